import CisternCore
import LMDB

extension BootMark {
  /// The offset of the data file's fingerprint in the mark.
  ///
  /// Each process overwrites the fingerprint and the history behind it after its commits. It does not touch the
  /// rest of the mark.
  static let fingerprintOffset = 160
  private static let fingerprintHeading: Substring = "left"

  /// Returns the fingerprint that the bytes hold, or nil if they hold none.
  static func fingerprint(_ bytes: ArraySlice<UInt8>) -> DataFileFingerprint? {
    let words = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).split(separator: " ")
    guard words.count == 5, words[0] == fingerprintHeading, let node = UInt64(words[1]), let size = Int64(words[2]),
      let modified = Int64(words[3]), let changed = Int64(words[4])
    else { return nil }
    return DataFileFingerprint(node: node, size: size, modified: modified, changed: changed)
  }

  /// Returns the encoded fingerprint, which always has the same length. Without a fingerprint, it has only
  /// newlines.
  static func fingerprintBytes(_ fingerprint: DataFileFingerprint?) -> [UInt8] {
    // The heading and four numbers of at most 20 characters fit, with the spaces between them.
    padded(
      fingerprint.map { "\(fingerprintHeading) \($0.node) \($0.size) \($0.modified) \($0.changed)" } ?? "",
      to: historyOffset - fingerprintOffset)
  }

  /// The offset of the data file's history, which ends the mark.
  ///
  /// The history is written together with the fingerprint. Older versions of the library ignore it.
  static let historyOffset = 256
  private static let historyHeading: Substring = "commit"

  /// Returns the history that the bytes hold, or nil if they hold none.
  static func history(_ bytes: ArraySlice<UInt8>) -> DataFileHistory? {
    let words = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).split(separator: " ")
    guard words.count == 3, words[0] == historyHeading, let transaction = UInt64(words[1]), let state = UInt64(words[2])
    else { return nil }
    return DataFileHistory(transaction: transaction, previousState: state)
  }

  /// Returns the encoded history, which always has the same length.
  static func historyBytes(_ history: DataFileHistory?) -> [UInt8] {
    padded(
      history.map { "\(historyHeading) \($0.transaction) \($0.previousState)" } ?? "", to: size - historyOffset)
  }

  /// Returns the text as UTF-8, padded with newlines to `count` bytes.
  static func padded(_ text: String, to count: Int) -> [UInt8] {
    let bytes = Array(text.utf8)
    return bytes + Array(repeating: UInt8(ascii: "\n"), count: max(0, count - bytes.count))
  }
}
