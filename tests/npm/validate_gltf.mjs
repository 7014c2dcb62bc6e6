// SPDX-License-Identifier: Apache-2.0
//
// What the Khronos validator says about a file: its report as JSON.
//   node validate_gltf.mjs FILE
import fs from "fs";
import { createRequire } from "module";
import path from "path";

const validator = createRequire(path.join(process.cwd(), "x.js"))("gltf-validator");
const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2])));
console.log(JSON.stringify(report));
