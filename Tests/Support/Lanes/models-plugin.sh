#!/usr/bin/env bash
# Runs `swift package feathers-models` as a user does: in a fresh package that depends on this one, against the test backend.
#
#     Tests/Support/Lanes/models-plugin.sh
#
# The program that it builds calls the backend by way of the generated models. Folders stay under .build/lanes, so that a second run is short.
set -euo pipefail

package=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
root=$package/.build/lanes/models-plugin
python=$package/.build/test-backend/bin/python

if [ ! -x "$python" ]; then
    python3 -m venv "$package/.build/test-backend"
fi
"$python" -c 'import aiohttp' 2>/dev/null || "$python" -m pip install -q -r "$package/Tests/Support/Backend/requirements.txt"

mkdir -p "$root"
coproc BACKEND { exec "$python" "$package/Tests/Support/Backend/server.py" --machine --port 0 2>/dev/null; }
read -r word url <&"${BACKEND[0]}"
[ "$word" = READY ] || { echo "the backend does not start"; exit 1; }
trap 'exec {BACKEND[1]}>&-' EXIT

app=$root/App
rm -rf "$app/Sources"
mkdir -p "$app/Sources/App"
cat >"$app/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "feathers-swift", path: "$package")],
    targets: [.executableTarget(name: "App", dependencies: [.product(name: "Feathers", package: "feathers-swift")])]
)
MANIFEST
cat >"$app/Sources/App/App.swift" <<'PROGRAM'
import Feathers
import Foundation

@main
struct App {
    static func main() async throws {
        let app = FeathersApp(transport: .rest(URL(string: CommandLine.arguments[1])!))
        let messages = app.service(.messages)
        let text = "Hi, \(UUID().uuidString)"
        let sent = try await messages.create(.init(text: text, pinned: true))
        let patched = try await messages.patch(sent.id, .init(pinned: .null))
        guard sent.pinned == true, patched.pinned == nil, patched.text == text else { fatalError("\(sent), \(patched)") }
        let found = try await messages.find(.where(.text, text))
        guard found.data == [patched] else { fatalError("\(found)") }
        let todo = try await app.service(.todos).create(.init(title: "Write", priority: .high, dueAt: Date(timeIntervalSince1970: 0)))
        guard todo.priority == .high, todo.dueAt == Date(timeIntervalSince1970: 0) else { fatalError("\(todo)") }
        print("the models fit the server")
    }
}
PROGRAM

models() {
    swift package --package-path "$app" --allow-writing-to-package-directory --allow-network-connections all feathers-models "$@"
}

models --from "$url/swagger.json" --output Sources/App/Models
models --from "$url/swagger.json" --output Sources/App/Models | grep -q ' 0 files written, 0 removed'
models --from "$url/swagger.json" --output Sources/App/Models --check
swift run --package-path "$app" App "$url"

# The server has moved on, in the eyes of an app whose file is an older one.
sed -i.bak 's/var text: String$/var text: Int/' "$app/Sources/App/Models/Message.swift"
rm "$app/Sources/App/Models/Message.swift.bak"
status=0
difference=$(models --from "$url/swagger.json" --output Sources/App/Models --check) || status=$?
if [ "$status" != 1 ] || ! grep -q '+ var text: String' <<<"$difference"; then
    printf '%s\nended with %s; 1 and the difference were expected\n' "$difference" "$status"
    exit 1
fi
echo "the plugin works in a fresh package"
