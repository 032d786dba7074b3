/// A text table. Columns are as wide as their longest cell. The first one is aligned to the left, and the others to
/// the right.
struct TextTable: CustomStringConvertible {
  let headings: [String]
  private(set) var rows: [[String]] = []

  init(_ headings: [String]) {
    self.headings = headings
  }

  mutating func add(_ cells: [String]) {
    precondition(cells.count == headings.count)
    rows.append(cells)
  }

  var description: String {
    let lines = [headings] + rows
    let widths = headings.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: "  ")
    var text = lines.map { cells in
      let padded = cells.enumerated().map { column, cell in
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        return column == 0 ? cell + padding : padding + cell
      }
      var line = padded.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
    text.insert(rule, at: 1)
    return text.joined(separator: "\n")
  }
}
