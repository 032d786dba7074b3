/// One line of the table.
struct Row {
  let title: String
  let subject: String
  var reference = ""
  var referenceCost = ""
  var ratio: Double?
  var spread: (low: Double, high: Double)?
  var target: Double?
  /// Replaces the ratio and its target in rows without a ratio: a size and its limit.
  var result: (text: String, target: String, isMet: Bool)?

  static let header = """
    | measured | cost | reference | its cost | ratio (lowest–highest) | target | |
    | --- | --- | --- | --- | --- | --- | --- |
    """

  var line: String {
    let cells: [String]
    if let result {
      cells = [title, subject, reference, referenceCost, result.text, result.target, result.isMet ? "met" : "MISSED"]
    } else {
      let ratio = ratio ?? .nan
      cells = [
        title, subject, reference, referenceCost,
        decimal(ratio) + (spread.map { " (\(decimal($0.low))–\(decimal($0.high)))" } ?? ""),
        target.map { "≤ \(decimal($0))" } ?? "–", target.map { ratio <= $0 ? "met" : "MISSED" } ?? "",
      ]
    }
    return "| " + cells.joined(separator: " | ") + " |"
  }
}

extension Row {
  /// Creates a row with a figure of the dense layout, beside that of the ordered one.
  init(
    _ title: String, dense: String, ordered: String, result: (text: String, target: String, isMet: Bool)
  ) {
    self.init(
      title: title, subject: dense, reference: "ordered layout", referenceCost: ordered, result: result)
  }
}

/// Returns the number with two decimal places.
func decimal(_ value: Double) -> String {
  let hundredths = Int((value * 100).rounded())
  let part = hundredths % 100
  return "\(hundredths / 100).\(part < 10 ? "0" : "")\(part)"
}
