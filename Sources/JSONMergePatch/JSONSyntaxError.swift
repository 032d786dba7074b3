/// An error for a text that is not valid JSON.
public struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
  /// The offset in bytes, from 0, at which the parser found the error.
  public let offset: Int
  /// The expected content at the offset.
  public let expected: String

  /// The expected content and the offset.
  public var description: String { "the text is not valid JSON: expected \(expected) at byte \(offset)" }
}
