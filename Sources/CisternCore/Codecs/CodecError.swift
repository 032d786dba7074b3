/// An error for bytes that the codec cannot have written.
///
/// A custom codec may throw any error, which becomes the cause of the report.
public enum CodecError: Error, Sendable, Hashable {
  /// The bytes have the wrong length for a value of fixed size. Both lengths are in bytes.
  case wrongLength(expected: Int, actual: Int)
  /// The bytes are not valid UTF-8.
  case invalidUTF8
  /// The record stores the absence of a value, but the cache's values are not optional.
  case unexpectedAbsence
}

extension CodecError: CustomStringConvertible {
  /// A sentence that states the problem.
  public var description: String {
    switch self {
    case .wrongLength(let expected, let actual): "the value must have \(expected) bytes, but has \(actual)"
    case .invalidUTF8: "the bytes are not valid UTF-8"
    case .unexpectedAbsence: "the record stores the absence of a value, but the cache's values are not optional"
    }
  }
}
