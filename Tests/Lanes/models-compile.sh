#!/usr/bin/env bash
# Measures how long the generated models of 20 services take to compile in debug, and what part of that an empty module takes.
#
#     swift build && Tests/Lanes/models-compile.sh [ROUNDS]
#
# The services are those of the document `chat.json` in the tests' corpus, ten times. They are compiled with the arguments that SwiftPM gives the
# compiler, against the modules that are built already; only the compiler runs. Prints the least of 12 rounds. For figures, run it alone on the machine.
set -euo pipefail

package=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
products=$(swift build --package-path "$package" --show-bin-path)
root=$package/.build/lanes/models-compile
rm -rf "$root"
mkdir -p "$root/empty"

python3 - "$package/Tests/FeathersModelsTests/Corpus/chat.json" >"$root/services.json" <<'PROGRAM'
import json, sys

text = open(sys.argv[1]).read()
schemas, paths = {}, {}
for number in range(10):
    document = json.loads(text.replace("#/components/schemas/", f"#/components/schemas/s{number}"))
    schemas.update({f"s{number}{name}": schema for name, schema in document["components"]["schemas"].items()})
    paths.update({f"/s{number}{path[1:]}": item for path, item in document["paths"].items()})
json.dump({"openapi": "3.0.3", "paths": paths, "components": {"schemas": schemas}}, sys.stdout)
PROGRAM
"$products/feathers-models" --from "$root/services.json" --output "$root/models" 2>/dev/null
for file in "$root/models/"*.swift; do
    printf 'import Feathers\nimport Foundation\n' >"$root/empty/$(basename "$file")"
done

python3 - "$products" "$package" "$root" "${1:-12}" <<'PROGRAM'
import json, os, pathlib, re, resource, shutil, subprocess, sys, time

products, package, root, rounds = sys.argv[1:4] + [int(sys.argv[4])]


def arguments(name, output):
    """The arguments of SwiftPM's debug build for a module of one folder."""
    files = sorted(str(file) for file in pathlib.Path(root, name).glob("*.swift"))
    outputs = {"": {"swift-dependencies": f"{output}/module.priors", "emit-module-dependencies": f"{output}/module.d"}}
    for file in files:
        stem = f"{output}/{pathlib.Path(file).stem}"
        outputs[file] = {"object": f"{stem}.o", "dependencies": f"{stem}.d", "swift-dependencies": f"{stem}.swiftdeps", "diagnostics": f"{stem}.dia"}
    pathlib.Path(output, "outputs.json").write_text(json.dumps(outputs))
    maps = [word for module in ("CCurl", "CLinuxIO") for word in ("-Xcc", f"-fmodule-map-file={products}/{module}.build/module.modulemap")]
    return (
        ["swiftc", "-module-name", "Models", "-emit-dependencies", "-emit-module", "-emit-module-path", f"{output}/Models.swiftmodule"]
        + ["-output-file-map", f"{output}/outputs.json", "-parse-as-library", "-incremental", "-c", *files, "-I", f"{products}/Modules"]
        + ["-enable-batch-mode", "-serialize-diagnostics", "-index-store-path", f"{root}/index", "-Onone", "-enable-testing"]
        + [f"-j{os.cpu_count()}", "-DSWIFT_PACKAGE", "-DDEBUG", *maps, "-module-cache-path", f"{root}/cache", "-swift-version", "6", "-g"]
        + ["-package-name", "app"]
    )


def compiled(name):
    """Compiles a folder from nothing: the seconds that pass, and those that processors take."""
    output = f"{root}/output"
    shutil.rmtree(output, ignore_errors=True)
    os.makedirs(output)
    command = arguments(name, output)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        sys.exit(result.stdout)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


lines = sum(len(file.read_text().splitlines()) for file in pathlib.Path(root, "models").glob("*.swift"))
print(f"20 services, {lines} lines, {os.cpu_count()} processors, the least of {rounds}:")
for name in ("models", "empty"):
    runs = [compiled(name) for _ in range(rounds)]
    print(f"{name:7} {min(run[0] for run in runs):.2f} s, {min(run[1] for run in runs):.2f} s of processors")
PROGRAM
