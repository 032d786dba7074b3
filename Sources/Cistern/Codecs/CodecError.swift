/// Bytes that are not what a codec would have written.
///
/// A codec of your own may throw any error; it becomes the cause of the report.
public enum CodecError: Error, Sendable, Hashable {
  /// The value has a fixed size, and the bytes have another, both in bytes.
  case wrongLength(expected: Int, actual: Int)
  /// The bytes are not UTF-8.
  case invalidUTF8
  /// The record says that there is nothing, and the cache's values cannot be absent.
  case unexpectedAbsence
}

extension CodecError: CustomStringConvertible {
  /// What is wrong with the bytes, in a sentence.
  public var description: String {
    switch self {
    case .wrongLength(let expected, let actual): "the value takes \(expected) bytes, and there are \(actual)"
    case .invalidUTF8: "the bytes are not UTF-8"
    case .unexpectedAbsence: "the record says that there is nothing, and the cache's values are not optional"
    }
  }
}
