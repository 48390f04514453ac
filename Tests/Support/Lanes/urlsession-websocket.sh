#!/usr/bin/env bash
# Runs the WebSocket and Socket.IO suites over Foundation's URLSessionWebSocketTask on Linux.
#
# swift.org's toolchains compile that class out there. Debian sid's own `swiftlang` and `libcurl4t64` have it, so this makes a
# Debian sid in a folder, copies the package into it, builds it with Debian's Swift and runs the suites with
# FEATHERS_WEBSOCKET=urlsession. See --help.
set -euo pipefail

package=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
root=$package/.build/lanes/debian-sid
mirror=
list_only=false

# The suites that open WebSockets: those of the connections, Socket.IO against the test backend, and every transport's conformance.
suites=(
    'FeathersNetworkingTests\.URLSessionWebSocketTests/'
    'FeathersNetworkingTests\.WebSocket(Opening|Closing)ConnectionTests/'
    'FeathersNetworkingTests\.WebSocket(Lifetime|Message|Sending)Tests/'
    'FeathersSocketIOTests\.Backend(Call|Event|Loss)Tests/'
    'ConformanceTests\.'
)

# What is left out of them, and why. Foundation's own limits, all seen with Debian's Swift 6.2.3 and libcurl 8.23.
reasons=()
skipped=()
# skip REASON TEST…: leaves tests out, named as regular expressions that match what `swift test list` prints.
skip() {
    local test
    reasons+=("$1")
    for test in "${@:2}"; do
        reasons+=("    $test")
        skipped+=(--skip "$test")
    done
}

skip 'Messages come in pieces: Foundation takes each read for a message (swiftlang/swift-corelibs-foundation#5255), so what is
  larger than some 4 to 16 KB, comes in fragments, or crosses the border of two reads under load is torn. A character torn so
  ends the process: Foundation calls libcurl from within libcurl.' \
    'WebSocketMessageTests/(large|fragments|flood|pings)\(' 'WebSocketSendingTests/order\(' 'OpeningConnectionTests/early\(' \
    'BackendCallTests/long\(' 'BackendEventTests/flood\(' 'CallConformanceTests/concurrency\(' 'LeakTests/memory\('
skip 'Messages that break the protocol may end the process, in the same way.' 'WebSocketMessageTests/violations\('
skip 'Messages of any size are accepted: maximumMessageSize is a size of buffers there.' 'WebSocketMessageTests/tooLarge\('
skip 'Sending more than the socket takes at once ends the connection, instead of waiting for room.' \
    'WebSocketSendingTests/(queueFull|closing)\('
skip 'Close codes: none is told as 1000, one that RFC 6455 does not name as 1003, and none such can be sent.' \
    'URLSessionWebSocketTests/closeCode\(' 'ClosingConnectionTests/(ours|theirs|withoutCode)\('
skip 'Closing takes effect at once: the answer is not waited for, and messages that are on their way, such as Socket.IO'"'"'s own
  farewell, may be lost.' \
    'ClosingConnectionTests/(onItsWay|deaf)\(' 'BackendLossTests/ended\('
skip 'An end of the connection in the middle of a frame is told as a proper close.' 'ClosingConnectionTests/midFrame\('
skip 'An answer to the opening that is no HTTP is told as "unsupported"; one with a wrong Sec-WebSocket-Accept or an extension nobody
  asked for is taken. (Refusals by status are tested among the tests of URLSession.)' \
    'OpeningConnectionTests/refusals\('
skip 'TLS: URLSession on Linux trusts the system'"'"'s authorities only, so nobody vouches for the test server.' \
    'WebSocketTLSTests/'

usage() {
    cat <<EOF
Usage: $(basename "$0") [--root FOLDER] [--mirror URL] [--list]

Runs the WebSocket and Socket.IO suites over URLSessionWebSocketTask, in a Debian sid of their own. The first run takes some ten
minutes, half of them for downloads; --list tells what is left out, and why.

  --root FOLDER   where that Debian is, or is to be made (some 5 GB); by default .build/lanes/debian-sid in the package.
                  One that is complete is used again; delete the folder to begin anew.
  --mirror URL    the Debian mirror to make it from; by default the one this machine's apt uses
  --list          only tells what is skipped, and why
  --help          this text

Needs root, and debootstrap, which is installed by apt where missing. Nothing outside of FOLDER is written; what runs in it ends
with the script.
EOF
}

while (($#)); do
    case $1 in
    --root) root=${2:?--root needs a folder}; shift 2 ;;
    --mirror) mirror=${2:?--mirror needs a URL}; shift 2 ;;
    --list) list_only=true; shift ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
done

root=$(realpath --canonicalize-missing "$root")

step() { printf '\n== %s\n' "$1"; }
fail() { printf '%s\n' "$1" >&2; exit 1; }

tell_skipped() {
    echo "Skipped here; \`swift test\` runs them over the platform's own WebSockets:"
    printf '  %s\n' "${reasons[@]}"
    echo "Not asked of it: pings of ours, which Foundation answers wrongly in some versions. The header \`Connection: Upgrade\`,"
    echo "which libcurl before 8.17 leaves out, is set by URLSessionWebSocketConnector."
}

if $list_only; then tell_skipped; exit 0; fi

[[ $(uname -s) == Linux ]] || fail "This lane is for Linux; elsewhere \`swift test\` covers URLSessionWebSocketTask."
((EUID == 0)) || fail "Only root can make a Debian in a folder and enter it: run this with sudo."

# Runs a command inside the Debian. Mounts and processes live in namespaces that end with the command, whatever happens.
inside() {
    local variable passed=()
    # What a proxy or a package index of one's own needs, and nothing else of this machine's environment.
    for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY PIP_INDEX_URL; do
        [[ -z ${!variable:-} ]] || passed+=("$variable=${!variable}")
    done
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child bash -euc '
        root=$1
        shift
        mount --rbind /dev "$root/dev"
        mount -t proc proc "$root/proc"
        mount -t tmpfs tmpfs "$root/tmp"
        exec chroot "$root" env -i "$@"
    ' inside "$root" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive PIP_CERT=/etc/ssl/certs/ca-certificates.crt ${passed[@]+"${passed[@]}"} "$@"
}

# The mirror this machine's apt takes Debian from.
apt_mirror() {
    # Security updates are a place of their own, without sid.
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null | sed -n 1p
}

make_debian() {
    if [[ -z $mirror ]]; then mirror=$(apt_mirror); fi
    [[ -n $mirror ]] || fail "This machine's apt knows no Debian mirror: name one with --mirror."
    if ! command -v debootstrap >/dev/null; then
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends debootstrap
    fi
    # What an attempt that was cut off left behind cannot be gone on with; what somebody else keeps there is left alone.
    if [[ -f $root/begun ]]; then rm -rf --one-file-system "$root"; fi
    mkdir -p "$root"
    [[ -z $(ls -A "$root") ]] || fail "$root holds something else: name another folder with --root."
    touch "$root/begun"
    debootstrap --variant=minbase --include=ca-certificates sid "$root" "$mirror" >"$root/lane.log" 2>&1 ||
        fail "debootstrap failed; $root/lane.log tells why."
    # localhost, and the authorities this machine trusts: a proxy's own may be among them.
    cp /etc/hosts "$root/etc/hosts"
    if [[ -f /etc/ssl/certs/ca-certificates.crt ]]; then cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"; fi
    # A mirror may lag behind; what comes from it is signed all the same.
    inside apt-get update -q -o Acquire::Check-Valid-Until=false >>"$root/lane.log" 2>&1 ||
        fail "apt-get update failed; $root/lane.log tells why."
    # Swift and the libcurl its Foundation uses; g++ for the C library's headers; Python and openssl for the test backend.
    inside apt-get install -y -q --no-install-recommends swiftlang libcurl4t64 g++ git tzdata python3 python3-venv openssl \
        >>"$root/lane.log" 2>&1 || fail "Installing Debian's packages failed; $root/lane.log tells why."
    touch "$root/complete"
}

# The package as it lies here, uncommitted changes included, but nothing that is ignored. The copy's own .build stays.
copy_package() {
    mkdir -p "$root/package"
    find "$root/package" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
    git -C "$package" ls-files --cached --others --exclude-standard -z |
        while IFS= read -r -d '' file; do
            if [[ -e $package/$file ]]; then printf '%s\0' "$file"; fi
        done |
        tar -C "$package" --null --files-from=- -c |
        tar -C "$root/package" --no-same-owner -x
}

step "Debian sid in $root"
if [[ ! -f $root/complete ]]; then make_debian; fi
inside swift --version 2>&1 | sed -n '/Swift version/p'
inside dpkg-query --show swiftlang libcurl4t64 python3

step "Build"
copy_package
# Debian ships the module that joins Testing and Foundation, but not its library; no test needs it.
swift_options=(-Xswiftc -Xfrontend -Xswiftc -disable-cross-import-overlays)
inside env -C /package swift build --build-tests "${swift_options[@]}"

step "Test over URLSessionWebSocketTask"
tell_skipped
# One after the other: under load more messages cross the border of two reads than those skipped.
arguments=(--skip-build --no-parallel "${swift_options[@]}" "${skipped[@]}")
for suite in "${suites[@]}"; do arguments+=(--filter "$suite"); done
inside env -C /package FEATHERS_WEBSOCKET=urlsession swift test "${arguments[@]}"
