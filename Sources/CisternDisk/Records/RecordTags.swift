import CisternCore

/// The encoding of a record's tags: for each tag, the length in bytes as a four-byte number, and the UTF-8 bytes.
package enum RecordTags {
  package static func size(of tags: [String]) -> Int {
    tags.reduce(0) { $0 + 4 + $1.utf8.count }
  }

  @_lifetime(target: copy target)
  package static func encode(_ tags: [String], into target: inout MutableRawSpan, at start: Int) {
    var offset = start
    for tag in tags {
      target.storeBytes(of: UInt32(tag.utf8.count).littleEndian, toByteOffset: offset, as: UInt32.self)
      offset += 4
      for byte in tag.utf8 {
        target.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        offset += 1
      }
    }
  }

  /// Decodes the tags. Ignores a truncated tag at the end.
  package static func decode(_ bytes: RawSpan) -> [String] {
    var tags: [String] = []
    var offset = 0
    while bytes.byteCount - offset >= 4 {
      let length = Int(bytes.integer(at: offset, as: UInt32.self))
      offset += 4
      guard length <= bytes.byteCount - offset else { break }
      tags.append(String(decoding: bytes.extracting(offset..<offset + length).copiedBytes(), as: UTF8.self))
      offset += length
    }
    return tags
  }
}
