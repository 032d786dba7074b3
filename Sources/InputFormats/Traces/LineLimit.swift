import CisternCore

/// The maximum length of a line.
package struct LineLimit: Sendable {
  package let bytes: Int
  /// The message for a longer line.
  let excess: String

  /// - Parameters:
  ///   - bytes: The length in bytes.
  ///   - consequence: The end of the message for a longer line, or nil.
  package init(bytes: Int, consequence: String? = nil) {
    self.bytes = bytes
    excess = "the line is longer than \(ByteCount.bytes(bytes))" + (consequence.map { ": \($0)" } ?? "")
  }
}
