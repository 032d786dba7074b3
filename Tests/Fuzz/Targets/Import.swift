import Cistern

@testable import StressKit

/// Arbitrary bytes as a line of an export: refused with a message, or a record that is the same when it is exported and
/// imported again, whatever the form of its value.
func fuzzImport(_ input: [UInt8]) {
  let now = WallTime(nanosecondsSince1970: 5)
  do {
    comesBack(try ExportedRecord(line: input, now: now))
  } catch {
    require(!error.description.isEmpty, "no message")
  }
  var source = ByteSource(input)
  var metadata = source.metadata()
  // Lines have neither eras nor empty tags, and no times beyond those that can be written.
  metadata.era = 0
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
