import Foundation

/// A chart of the cost per unit at 1, 10 and 100 times the count, relative to the cost at 1×. A level line means that the total cost is linear.
struct GrowthChart {
    private static let (width, margin, columns) = (960.0, 24.0, 3)
    private static let (top, plotHeight, legendLine) = (92.0, 130.0, 18.0)
    private let results: Results
    private let panels: [(name: String, series: [GrowthMeasurement])]

    init(_ results: Results) {
        self.results = results
        var names: [String] = []
        for growth in results.growth where !names.contains(growth.group) { names.append(growth.group) }
        panels = names.map { name in (name, results.growth.filter { $0.group == name }) }
    }

    var svg: String {
        let rows = stride(from: 0, to: panels.count, by: Self.columns).map { panels[$0..<min($0 + Self.columns, panels.count)] }
        let heights = rows.map { row in 64 + Self.plotHeight + Double(row.map(\.series.count).max() ?? 0) * Self.legendLine + 18 }
        var svg = SVG(width: Self.width, height: Self.top + heights.reduce(0, +), title: "Cost per unit at 1, 10 and 100 times the count")
        svg.text("Cost per unit at 10 and 100 times the count", x: Self.margin, y: 34, "title")
        svg.text(
            "Processor time per unit, relative to 1×. Level: the total cost is linear. Dashed: quadratic. n^ is the growth of the total cost from 10× to 100×.",
            x: Self.margin, y: 55, "small")
        svg.text(results.machine.title, x: Self.margin, y: 73, "small")
        if !results.machine.wasQuiet {
            svg.text("measured on a busy machine", x: Self.width - Self.margin, y: 34, "warning", anchor: .end)
        }
        var y = Self.top
        let panelWidth = (Self.width - 2 * Self.margin) / Double(Self.columns)
        for (row, height) in zip(rows, heights) {
            for (column, panel) in row.enumerated() {
                draw(panel.name, panel.series, &svg, x: Self.margin + Double(column) * panelWidth, y: y, width: panelWidth - 24)
            }
            y += height
        }
        return svg.file
    }

    /// The range of the vertical axis, the same for all panels to make them comparable.
    private var range: ClosedRange<Double> {
        let costs = results.growth.flatMap { growth in growth.points.map { $0.cpuNanoseconds / growth.points[0].cpuNanoseconds } }
        return min(0.1, costs.min() ?? 1) / 1.2...max(10, costs.max() ?? 1) * 1.2
    }

    private func draw(_ name: String, _ series: [GrowthMeasurement], _ svg: inout SVG, x: Double, y: Double, width: Double) {
        svg.text(name.prefix(1).uppercased() + name.dropFirst(), x: x, y: y + 26, "strong")
        let (plotTop, plotBottom) = (y + 38, y + 38 + Self.plotHeight)
        let scale = LogScale(range: range, from: plotBottom, to: plotTop)
        let sizes = LogScale(range: 1...100, from: x + 40, to: x + width - 6)
        for mark in scale.marks([1]) {
            svg.line([.init(x: x + 34, y: scale(mark)), .init(x: x + width, y: scale(mark))], mark == 1 ? "axis" : "grid")
            svg.text("\(mark.formatted(.number.locale(Locale(identifier: "en"))))×", x: x + 28, y: scale(mark) + 4, "small", anchor: .end)
        }
        svg.line(
            [.init(x: sizes(1), y: scale(1)), .init(x: sizes(min(100, range.upperBound)), y: scale(min(100, range.upperBound)))], "dashes")
        for (size, anchor) in [(1.0, SVG.Anchor.start), (10, .middle), (100, .end)] {
            svg.text("\(Int(size))×", x: sizes(size), y: plotBottom + 16, "small", anchor: anchor)
        }
        for (index, growth) in series.enumerated() {
            let points = growth.points.map { point in
                SVG.Point(
                    x: sizes(Double(point.size) / Double(growth.points[0].size)),
                    y: scale(point.cpuNanoseconds / growth.points[0].cpuNanoseconds))
            }
            svg.line(points, "line\(index)")
            for point in points { svg.dot(point, radius: 3, "dot\(index)") }
            let line = plotBottom + 38 + Double(index) * Self.legendLine
            svg.dot(.init(x: x + 5, y: line - 4), radius: 4, "dot\(index)")
            svg.text(growth.name, x: x + 16, y: line, "small")
            svg.text(String(format: "n^%.2f", growth.exponent), x: x + width, y: line, growth.isLinear ? "small" : "warning", anchor: .end)
        }
    }
}
