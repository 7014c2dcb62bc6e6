// SPDX-License-Identifier: Apache-2.0
//
// Reads a layer with tinyusdz and prints what it understood: {"text": the layer written anew, "meshes": [...]}.
//   node read_usd.mjs FILE
import fs from "fs";
import { createRequire } from "module";
import path from "path";

// The package is built for browsers; it takes this process for one of Electron's.
process.type = "renderer";
globalThis.window = globalThis;
const main = createRequire(path.join(process.cwd(), "x.js")).resolve("tinyusdz");
const wasmBinary = fs.readFileSync(path.join(path.dirname(main), "tinyusdz.wasm"));
const { default: load } = await import(main);
const tinyusdz = await load({ wasmBinary, print: () => {}, printErr: () => {} });

const file = process.argv[2];
const bytes = fs.readFileSync(file);
const layer = new tinyusdz.TinyUSDZLoaderNative();
if (!layer.loadAsLayerFromBinary(bytes, file)) {
  console.error(layer.error());
  process.exit(1);
}
const stage = new tinyusdz.TinyUSDZLoaderNative();
const meshes = [];
if (stage.loadFromBinary(bytes, file))
  for (let i = 0; i < stage.numMeshes(); i++) {
    const mesh = stage.getMesh(i);
    meshes.push({ path: mesh.absPath, points: [...mesh.points], indices: [...mesh.faceVertexIndices] });
  }
console.log(JSON.stringify({ text: layer.layerToString(), meshes }));
