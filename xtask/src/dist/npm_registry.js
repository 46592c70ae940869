// A registry of npm with the packages of a folder: node npm_registry.js FOLDER. It prints its address.
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");

const folder = process.argv[2];
const packages = new Map();
for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".tgz"))) {
    const manifest = JSON.parse(execFileSync("tar", ["-xzOf", path.join(folder, file), "package/package.json"]));
    packages.set(`/${manifest.name}`, { manifest, file });
}
const server = http.createServer(({ url, headers }, response) => {
    const name = decodeURIComponent(url);
    if (name.endsWith(".tgz")) return fs.createReadStream(path.join(folder, path.basename(name))).pipe(response);
    if (!packages.has(name)) return response.writeHead(404).end("{}");
    const { manifest, file } = packages.get(name);
    const versions = { [manifest.version]: { ...manifest, dist: { tarball: `http://${headers.host}/${file}` } } };
    response.end(JSON.stringify({ name: manifest.name, "dist-tags": { latest: manifest.version }, versions }));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
