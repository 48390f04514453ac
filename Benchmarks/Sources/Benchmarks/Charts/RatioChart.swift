/// A bar chart of the speed relative to other libraries. Bars to the right of 1 are faster.
struct RatioChart {
    private static let (width, margin, rowHeight, gap) = (880.0, 24.0, 22.0, 10.0)
    private static let (top, bottom) = (84.0, 40.0)
    private let story: Story

    init(_ story: Story) {
        self.story = story
    }

    var svg: String {
        let rows = story.rows.map(\.comparisons.count).reduce(0, +)
        let plot = Double(rows) * Self.rowHeight + Double(max(story.rows.count - 1, 0)) * Self.gap
        var svg = SVG(width: Self.width, height: Self.top + plot + Self.bottom, title: "Speed relative to other libraries")
        svg.text("Speed relative to other libraries", x: Self.margin, y: 34, "title")
        svg.text(story.machine.title, x: Self.margin, y: 56, "small")
        if !story.machine.wasQuiet {
            svg.text("measured on a busy machine", x: Self.width - Self.margin, y: 34, "warning", anchor: .end)
        }
        let scale = scale
        drawAxis(&svg, scale, to: Self.top + plot)
        var y = Self.top
        for row in story.rows {
            svg.text(row.task, x: Self.margin, y: y + 15, "strong")
            for comparison in row.comparisons {
                draw(comparison, &svg, scale, y)
                y += Self.rowHeight
            }
            y += Self.gap
        }
        return svg.file
    }

    private var scale: LogScale {
        let ratios = story.rows.flatMap { $0.comparisons.map(\.ratio) }
        let (least, greatest) = (min(0.8, ratios.min() ?? 1), max(2, ratios.max() ?? 1))
        return LogScale(range: least / 1.4...greatest * 1.1, from: 430, to: Self.width - Self.margin - 52)
    }

    private func drawAxis(_ svg: inout SVG, _ scale: LogScale, to bottom: Double) {
        for mark in scale.marks([1, 2, 5]) {
            let x = scale(mark)
            svg.line([.init(x: x, y: Self.top - 6), .init(x: x, y: bottom + 6)], mark == 1 ? "axis" : "grid")
            svg.text(mark < 1 ? mark.times.replacing("0×", with: "×") : "\(Int(mark))×", x: x, y: bottom + 24, "small", anchor: .middle)
        }
        svg.text("slower", x: scale(1) - 8, y: Self.top - 12, "small", anchor: .end)
        svg.text("faster", x: scale(1) + 8, y: Self.top - 12, "small")
    }

    private func draw(_ comparison: Story.Ratio, _ svg: inout SVG, _ scale: LogScale, _ y: Double) {
        svg.text(comparison.beside, x: 418, y: y + 15, "quiet", anchor: .end)
        let (one, end) = (scale(1), scale(comparison.ratio))
        svg.rectangle(
            x: min(one, end), y: y + 3, width: max(abs(end - one), 1.5), height: Self.rowHeight - 6,
            comparison.ratio < 1 ? "worse" : "better")
        // Next to the bar's end, or to the right of the line at 1 for bars on its left.
        svg.text(comparison.ratio.times, x: max(one, end) + 6, y: y + 15, "value")
    }
}
