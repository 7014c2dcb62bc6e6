// SPDX-License-Identifier: Apache-2.0
//
// Opens FOLDER/scene.usda with OpenUSD (in three-usdz-loader), draws it at each time and prints what a renderer is given:
// [{PATH: {"type", "points", "indices", "primvars": {NAME: {"values", "interpolation"}}}}, ...] over the times.
//   node compose_usd.cjs FOLDER TIME...
const fs = require("fs");
const path = require("path");
const { spawnSync } = require("child_process");

async function compose(folder, times) {
  const home = path.join(process.cwd(), "node_modules/three-usdz-loader/external");
  const read = (name) => fs.readFileSync(path.join(home, name));
  const name = path.join(home, "emHdBindings.js");
  const load = new Function("require", "__filename", "__dirname", "module", `${read("emHdBindings.js")}; return getUsdModule;`)(
    require, name, home, {});
  const said = [];
  const usd = await load({
    getPreloadedPackage: () => new Uint8Array(read("emHdBindings.data")).buffer,
    wasmBinary: read("emHdBindings.wasm"),
    print: (line) => said.push(line),
    printErr: (line) => said.push(line),
  }, home);
  await usd.ready;
  for (const file of fs.readdirSync(folder))
    if (/\.usd[ac]$/.test(file)) usd.FS_createDataFile("/", file, new Uint8Array(fs.readFileSync(path.join(folder, file))), true, true, true);
  const prims = {};
  const make = (type, id) => {
    const prim = (prims[id] = { type, points: [], indices: [], primvars: {} });
    const update = {
      updatePoints: (values) => (prim.points = [...values]),
      updateIndices: (values) => (prim.indices = [...values]),
      updatePrimvar: (name, values, size, interpolation) => (prim.primvars[name] = { values: [...values], interpolation }),
    };
    return new Proxy(update, { get: (known, name) => known[name] ?? (() => {}) });
  };
  const ignore = () => new Proxy({}, { get: () => () => {} });
  const driver = new usd.HdWebSyncDriver(
    { createRPrim: make, createBPrim: ignore, createSPrim: ignore, CommitResources() {} }, "/scene.usda");
  const drawn = times.map((time) => {
    driver.SetTime(time);
    driver.Draw();
    return JSON.parse(JSON.stringify(prims));
  });
  // This build has no volumes, and says so at the start.
  const errors = said.filter((line) => /error|warning/i.test(line) && !line.includes("UsdVol"));
  fs.writeSync(1, JSON.stringify({ drawn, errors }) + "\n");
  process.exit(0);
}

if (process.execArgv.length === 0) {
  const words = ["--require", path.join(__dirname, "page_globals.cjs"), ...process.argv.slice(1)];
  process.exit(spawnSync(process.execPath, words, { stdio: "inherit" }).status ?? 1);
}
compose(process.argv[2], process.argv.slice(3).map(Number)).catch((error) => {
  console.error(error);
  process.exit(1);
});
