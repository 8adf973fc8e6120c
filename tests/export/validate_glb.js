// Checks a .glb with Khronos's validator: node validate_glb.js FOLDER_OF_node_modules FILE → the report as JSON.
const fs = require("fs");
const path = require("path");
const validator = require(path.join(process.argv[2], "gltf-validator"));
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[3])), { maxIssues: 50 })
  .then((report) => console.log(JSON.stringify(report.issues)), (error) => { console.error(error); process.exit(1); });
