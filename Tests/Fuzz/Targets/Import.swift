import Cistern

import InputFormats

/// Feeds arbitrary bytes to the import of one line. It refuses them with a message, or reads a record that survives
/// export and import in every form of its value.
func fuzzImport(_ input: [UInt8]) {
  let now = WallTime(nanosecondsSince1970: 5)
  do {
    comesBack(try ExportedRecord(line: input, now: now))
  } catch {
    require(!error.description.isEmpty, "no message")
  }
  var source = ByteSource(input)
  var metadata = source.metadata()
  // Lines have neither invalidation versions nor empty tags, and only times that can be written.
  metadata.invalidationVersion = 0
  metadata.tags = metadata.tags.filter { !$0.isEmpty }
  metadata.created = source.writableTime()
  metadata.expires = metadata.expires.map { _ in source.writableTime() }
  metadata.lastUsed = metadata.lastUsed.map { _ in source.writableTime() }
  let key = source.bytes()
  comesBack(ExportedRecord(key: key, metadata: metadata, bytes: metadata.isNegative ? [] : source.remainder()))
}

private func comesBack(_ record: ExportedRecord) {
  for form in ExportedRecord.ValueForm.allCases {
    let line = record.line(form)
    require(!line.contains(UInt8(ascii: "\n")), "a line of two lines")
    do {
      let read = try ExportedRecord(line: line, now: WallTime(nanosecondsSince1970: 9))
      require(read == record, "\(String(decoding: line, as: UTF8.self)) is another record")
      require(read.line(form) == line, "\(String(decoding: line, as: UTF8.self)) is another line")
    } catch {
      fatalError("broken: \(String(decoding: line, as: UTF8.self)) is refused: \(error)")
    }
  }
}

extension ByteSource {
  fileprivate mutating func writableTime() -> WallTime {
    WallTime(nanosecondsSince1970: number(Int64.self) % 9_100_000_000_000_000_000)
  }
}
