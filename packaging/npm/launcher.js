#!/usr/bin/env node
// Starts the program of this platform's package, which npm installed as an optional dependency. Nothing is downloaded.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "mobile-debug-mcp.exe" : "mobile-debug-mcp";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

function fail(text) {
  process.stderr.write(`mobile-debug-mcp: ${text}\n`);
  process.exit(1);
}

function find() {
  const name = `@mobile-debug-mcp/${platform}`;
  const { optionalDependencies } = require("./package.json");
  if (!(name in optionalDependencies)) {
    const known = Object.keys(optionalDependencies).map((known) => known.split("/")[1]);
    fail(`there is no program for ${platform}; there is one for ${known.join(", ")}. Build it from source instead`);
  }
  try {
    return require.resolve(`${name}/bin/${program}`);
  } catch {
    fail(
      `the package ${name} is not installed. npm leaves it out with --omit=optional or --no-optional, and when ` +
        `node_modules was made on another platform: install mobile-debug-mcp again on this one`,
    );
  }
}

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });

// The child decides when it ends: it puts devices back as they were first. On Windows the console tells both of Ctrl-C, and
// kill() would end the child at once; the listener stays, so that the launcher does not end before the child.
for (const signal of SIGNALS) {
  process.on(signal, () => {
    if (process.platform !== "win32") child.kill(signal);
  });
}
child.on("error", (error) => fail(`cannot start ${child.spawnfile}: ${error.message}`));
child.on("exit", (code, signal) => {
  // As shells say it.
  process.exit(signal === null ? code : 128 + (os.constants.signals[signal] ?? 0));
});
