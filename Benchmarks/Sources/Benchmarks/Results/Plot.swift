import Foundation

/// A bar chart in SVG: how many times as fast this client is as others, for each task.
struct Plot {
    /// The colors of a chart, for light or dark pages.
    enum Appearance: CaseIterable {
        case light, dark

        /// The end of a file's name, as DocC expects it.
        var suffix: String { self == .light ? "" : "~dark" }
        fileprivate var text: String { self == .light ? "#1d1d1f" : "#f5f5f7" }
        fileprivate var quiet: String { self == .light ? "#6e6e73" : "#a1a1a6" }
        fileprivate var faster: String { self == .light ? "#0071e3" : "#2997ff" }
        fileprivate var slower: String { self == .light ? "#b25000" : "#ff9f0a" }
    }

    struct Bar {
        let title: String
        let ratio: Double
    }

    private static let (width, row, gap, left, right) = (720, 22, 16, 220, 70)
    /// The longest bar. Ratios are on a logarithmic scale, so that twice and half as fast are equally far from 1.
    private static let (least, most) = (0.25, 16.0)

    let title: String
    let groups: [(title: String, bars: [Bar])]

    /// Returns the chart as text.
    func svg(_ appearance: Appearance) -> String {
        var (lines, y) = ([String](), 44)
        for group in groups {
            lines.append(Self.text(group.title, x: 12, y: y, appearance.text, weight: 600))
            y += Self.row
            for bar in group.bars {
                lines += Self.lines(of: bar, y: y, appearance)
                y += Self.row
            }
            y += Self.gap
        }
        let one = Self.position(of: 1)
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(y)" role="img" \
            aria-label="\(Self.escaped(title))" font-family="-apple-system, Helvetica, Arial, sans-serif" font-size="13">
            \(Self.text(title, x: 12, y: 20, appearance.quiet))
            <line x1="\(one)" y1="32" x2="\(one)" y2="\(y - Self.gap)" stroke="\(appearance.quiet)" \
            stroke-dasharray="2 3"/>
            \(lines.joined(separator: "\n"))
            </svg>

            """
    }

    private static func lines(of bar: Bar, y: Int, _ appearance: Appearance) -> [String] {
        let (one, end) = (position(of: 1), position(of: bar.ratio))
        let color = bar.ratio >= 1 ? appearance.faster : appearance.slower
        return [
            text(bar.title, x: left - 12, y: y, appearance.text, anchor: "end"),
            """
            <rect x="\(min(one, end))" y="\(y - 11)" width="\(max(abs(end - one), 1))" height="14" rx="2" \
            fill="\(color)"/>
            """,
            text(bar.ratio.times, x: max(one, end) + 6, y: y, appearance.text),
        ]
    }

    private static func position(of ratio: Double) -> Int {
        let share = log(min(max(ratio, least), most) / least) / log(most / least)
        return left + Int((Double(width - left - right) * share).rounded())
    }

    private static func text(
        _ text: String, x: Int, y: Int, _ color: String, weight: Int = 400, anchor: String = "start"
    ) -> String {
        """
        <text x="\(x)" y="\(y)" fill="\(color)" font-weight="\(weight)" text-anchor="\(anchor)">\(escaped(text))</text>
        """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
