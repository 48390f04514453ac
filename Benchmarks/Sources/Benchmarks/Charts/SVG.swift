import Foundation

/// A drawing of shapes and text on a card that follows the reader's light or dark appearance.
struct SVG {
    enum Anchor: String { case start, middle, end }

    struct Point {
        let x: Double
        let y: Double
    }

    let width: Double
    let height: Double
    private var elements: [String] = []

    /// Creates an empty drawing. The title describes it for screen readers.
    init(width: Double, height: Double, title: String) {
        (self.width, self.height) = (width, height)
        elements.append("<title>\(Self.escaped(title))</title>")
        elements.append("<style>\(Self.style)</style>")
        elements.append(
            #"<rect class="card" x="0.5" y="0.5" width="\#(Self.text(width - 1))" height="\#(Self.text(height - 1))" rx="8"/>"#)
    }

    mutating func text(_ text: String, x: Double, y: Double, _ style: String, anchor: Anchor = .start) {
        elements.append(
            #"<text class="\#(style)" x="\#(Self.text(x))" y="\#(Self.text(y))" text-anchor="\#(anchor.rawValue)">\#(Self.escaped(text))</text>"#
        )
    }

    mutating func rectangle(x: Double, y: Double, width: Double, height: Double, _ style: String) {
        elements.append(
            #"<rect class="\#(style)" x="\#(Self.text(x))" y="\#(Self.text(y))" width="\#(Self.text(width))" height="\#(Self.text(height))" rx="2"/>"#
        )
    }

    mutating func line(_ points: [Point], _ style: String) {
        let places = points.map { "\(Self.text($0.x)),\(Self.text($0.y))" }.joined(separator: " ")
        elements.append(#"<polyline class="\#(style)" points="\#(places)"/>"#)
    }

    mutating func dot(_ point: Point, radius: Double, _ style: String) {
        elements.append(#"<circle class="\#(style)" cx="\#(Self.text(point.x))" cy="\#(Self.text(point.y))" r="\#(Self.text(radius))"/>"#)
    }

    /// The text of the SVG file.
    var file: String {
        let (width, height) = (Self.text(width), Self.text(height))
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" role="img">
            \(elements.joined(separator: "\n"))
            </svg>

            """
    }

    private static func text(_ number: Double) -> String {
        let rounded = number.rounded(places: 1)
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    private static var style: String {
        let light = colors(
            card: "#ffffff", edge: "#d1d9e0", ink: "#1f2328", quiet: "#59636e", grid: "#e4e8ec", better: "#0969da", worse: "#bc4c00",
            series: ["#0969da", "#bf3989", "#1a7f37", "#bc4c00", "#8250df", "#9a6700", "#0a7ea4"])
        let dark = colors(
            card: "#0d1117", edge: "#3d444d", ink: "#f0f6fc", quiet: "#9198a1", grid: "#262c34", better: "#4493f8", worse: "#db6d28",
            series: ["#4493f8", "#db61a2", "#3fb950", "#db6d28", "#ab7df8", "#d29922", "#39c5cf"])
        return """

            text { font: 13px -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", Helvetica, Arial, sans-serif }
            .title { font-size: 17px; font-weight: 600 } .strong { font-weight: 600 } .small, .warning { font-size: 12px } .warning { font-weight: 600 }
            polyline { fill: none; stroke-width: 1 } .dashes { stroke-dasharray: 4 4 }
            \(light)
            @media (prefers-color-scheme: dark) {
            \(dark)
            }

            """
    }

    private static func colors(
        card: String, edge: String, ink: String, quiet: String, grid: String, better: String, worse: String, series: [String]
    ) -> String {
        let lines = [
            ".card { fill: \(card); stroke: \(edge) } .title, .strong, .value { fill: \(ink) } .quiet, .small { fill: \(quiet) }",
            ".warning { fill: \(worse) } .grid { stroke: \(grid) } .axis, .dashes { stroke: \(quiet) }",
            ".better { fill: \(better) } .worse { fill: \(worse) }",
        ]
        let colors = series.enumerated().map { index, color in
            ".line\(index) { stroke: \(color); stroke-width: 2 } .dot\(index) { fill: \(color) }"
        }
        return (lines + colors).joined(separator: "\n")
    }
}
