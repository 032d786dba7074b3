import LMDB

extension BootMark {
  /// Where the stamp of the data file lies in the mark, to its end. It is written by itself, after each
  /// commit; by several processes too, which leave the rest of the mark alone.
  static let stampOffset = 160
  private static let stampHeading: Substring = "left"

  /// The stamp that these bytes are; nil where there is none.
  static func stamp(_ bytes: ArraySlice<UInt8>) -> DataFileStamp? {
    let words = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).split(separator: " ")
    guard words.count == 5, words[0] == stampHeading, let node = UInt64(words[1]), let size = Int64(words[2]),
      let modified = Int64(words[3]), let changed = Int64(words[4])
    else { return nil }
    return DataFileStamp(node: node, size: size, modified: modified, changed: changed)
  }

  /// A stamp as bytes, always the same number of them; of none where there is none.
  static func stampBytes(_ stamp: DataFileStamp?) -> [UInt8] {
    // Four numbers of at most twenty digits have room, with the spaces between them.
    padded(
      stamp.map { "\(stampHeading) \($0.node) \($0.size) \($0.modified) \($0.changed)" } ?? "",
      to: historyOffset - stampOffset)
  }

  /// The place of the data file's history, which is written with the stamp and ends the mark. An older version of the
  /// library ignores it.
  static let historyOffset = 256
  private static let historyHeading: Substring = "commit"

  /// The history that these bytes are; nil if they are something else.
  static func history(_ bytes: ArraySlice<UInt8>) -> DataFileHistory? {
    let words = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).split(separator: " ")
    guard words.count == 3, words[0] == historyHeading, let transaction = UInt64(words[1]), let state = UInt64(words[2])
    else { return nil }
    return DataFileHistory(transaction: transaction, previousState: state)
  }

  /// A history as bytes, always the same number of them.
  static func historyBytes(_ history: DataFileHistory?) -> [UInt8] {
    padded(
      history.map { "\(historyHeading) \($0.transaction) \($0.previousState)" } ?? "", to: size - historyOffset)
  }

  /// The text as bytes, and newlines behind it.
  static func padded(_ text: String, to count: Int) -> [UInt8] {
    let bytes = Array(text.utf8)
    return bytes + Array(repeating: UInt8(ascii: "\n"), count: max(0, count - bytes.count))
  }
}
