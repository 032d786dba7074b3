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
    var text: [UInt8] = []
    if let stamp {
      text = Array("\(stampHeading) \(stamp.node) \(stamp.size) \(stamp.modified) \(stamp.changed)".utf8)
    }
    // Four numbers of at most twenty digits, with what is between them, have room.
    let room = size - stampOffset
    return text + Array(repeating: UInt8(ascii: "\n"), count: room - text.count)
  }
}
