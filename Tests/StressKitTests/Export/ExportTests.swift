import Cistern
import Foundation
import Testing
import TestDirectories

@testable import InputFormats

@testable import StressKit

@Suite struct ExportTests {
  private let folder = TemporaryDirectory()
  private var store: String { folder.path + "/store" }
  private var other: String { folder.path + "/other" }

  /// Records of every kind.
  private static let records: [ExportedRecord] = {
    let time = WallTime(nanosecondsSince1970: 1_763_716_629_123_456_789)
    let later = WallTime(nanosecondsSince1970: 9_000_000_000_000_000_001)
    var full = RecordMetadata(
      created: time, expires: later, cost: .max, schemaVersion: 3, tags: ["news", "a,b\"c"])
    full.grace = .max
    full.idle = 5_000_000_000
    full.lastUsed = later
    full.refreshAhead = 12
    var negative = RecordMetadata(created: time, expires: later, cost: 1)
    negative.isNegative = true
    return [
      ExportedRecord(key: Array("plain".utf8), metadata: RecordMetadata(created: time, cost: 1), bytes: [1, 2, 255]),
      ExportedRecord(key: [], metadata: RecordMetadata(created: time, cost: 7), bytes: []),
      ExportedRecord(
        key: [0xFF, 0x00, 0x80], metadata: RecordMetadata(created: time, cost: 1), bytes: Array("x".utf8)),
      ExportedRecord(
        key: Array("ü \"quoted\"\n".utf8), metadata: full, bytes: Array(#"{"a":1.50,"b":[null,true]}"#.utf8)),
      ExportedRecord(key: Array("nothing".utf8), metadata: negative, bytes: []),
      ExportedRecord(
        key: [UInt8](repeating: 0x61, count: 2_000), metadata: RecordMetadata(created: time, cost: 1),
        bytes: Array(#"{ "not" : "canonical" }"#.utf8)),
    ]
  }()

  private func fill(_ directory: String) async throws {
    let disk = try StoreOnDisk(writing: directory, orMakingWith: .mebibytes(1))
    let partition = try disk.partition("things", beginning: true)
    for record in Self.records {
      guard case .staged = partition.stage(.record(key: record.key, record.metadata, bytes: record.bytes)) else {
        Issue.record("the store refused a record")
        continue
      }
    }
    try await disk.close()
  }

  private func contents(of directory: String) async throws -> [ExportedRecord] {
    let disk = try StoreOnDisk(reading: directory)
    let partition = try disk.partition("things")
    var records: [ExportedRecord] = []
    partition.forEachRecord { key, _, _ in
      let key = key.copiedBytes()
      if let record = partition.record(forKey: key) {
        records.append(ExportedRecord(key: key, metadata: record.metadata, bytes: record.bytes))
      }
      return true
    }
    try await disk.close()
    return records.sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  private func put(_ key: String, _ value: String) async {
    let run = await CommandRun(
      ["put", store, "things", key, "--disk-limit", "1MiB"], input: Array(value.utf8))
    #expect(run.status == 0, "\(run.errors)")
  }

  @Test(arguments: ["base64", "text", "json"])
  func `an import restores the exported records`(values: String) async throws {
    try await fill(store)
    let file = folder.path + "/export.jsonl"
    let export = await CommandRun("export", store, "things", file, "--values", values)
    #expect(export.status == 0, "\(export.errors)")
    let `import` = await CommandRun("import", other, "things", file, "--disk-limit", "1MiB")
    #expect(`import`.status == 0, "\(`import`.errors)")
    let copy = try await contents(of: other)
    #expect(copy == Self.records.sorted { $0.key.lexicographicallyPrecedes($1.key) })
    #expect(await CommandRun("verify", other).status == 0)
  }

  @Test func `a pipe from export to import copies a cache`() async throws {
    try await fill(store)
    let export = await CommandRun("export", store, "things")
    let lines = export.output.split(separator: UInt8(ascii: "\n")).count
    #expect(lines == Self.records.count)
    let run = await CommandRun(["import", other, "things", "--disk-limit", "1MiB"], input: export.output)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("6 records"))
    #expect(try await contents(of: other).count == Self.records.count)
  }

  @Test func `more records than a batch can be imported over existing ones`() async throws {
    await put("key3", "old")
    await put("stays", "here")
    let lines = (0..<700).map { #"{"key":"key\#($0)","text":"value \#($0)"}"# }.joined(separator: "\n")
    let run = await CommandRun(["import", store, "things"], input: Array(lines.utf8))
    #expect(run.status == 0, "\(run.errors)")
    #expect(await CommandRun("get", store, "things", "key3").text == "value 3")
    #expect(await CommandRun("get", store, "things", "key699").text == "value 699")
    #expect(await CommandRun("get", store, "things", "stays").text == "here")
  }

  @Test(
    arguments: [
      ("nonsense", "not valid JSON"), ("[]", "object"), (#"{"text":"x"}"#, "key"), (#"{"key":"k"}"#, "value"),
      (#"{"key":"k","text":"x","value":""}"#, "two values"), (#"{"key":"k","keyBase64":"","text":"x"}"#, "two keys"),
      (#"{"key":"k","value":"?"}"#, "base64"), (#"{"key":"k","text":"x","created":"soon"}"#, "created"),
      (#"{"key":"k","text":"x","expires":"2026-02-30T00:00:00Z"}"#, "expires"),
      (#"{"key":"k","text":"x","cost":-1}"#, "cost"), (#"{"key":"k","text":"x","cost":4294967296}"#, "cost"),
      (#"{"key":"k","text":"x","grace":1.5}"#, "grace"), (#"{"key":"k","text":"x","tags":"t"}"#, "tags"),
      (#"{"key":"k","text":"x","tags":[""]}"#, "tags"), (#"{"key":"k","text":"x","expire":"never"}"#, "expire"),
      (#"{"key":"k","text":"x","negative":true}"#, "negative"), (#"{"key":7,"text":"x"}"#, "key"),
    ])
  func `a wrong line is named in the error, and nothing is imported`(line: String, complaint: String) async throws {
    await put("a", "one")
    let lines = #"{"key":"a","text":"two"}"# + "\n\n" + line + "\n"
    let file = try folder.file("import.jsonl", lines)
    let run = await CommandRun("import", store, "things", file)
    #expect(run.status == 2)
    #expect(run.errors.contains("import.jsonl:3:"), "\(run.errors)")
    #expect(run.errors.contains(complaint), "\(run.errors)")
    #expect(run.errors.contains("nothing was imported"))
    #expect(await CommandRun("get", store, "things", "a").text == "one")
  }

  @Test func `a record that the store cannot hold is refused, and nothing is imported`() async throws {
    await put("a", "one")
    let value = String(repeating: "v", count: 2 << 20)
    let file = try folder.file("large.jsonl", #"{"key":"a","text":"two"}"# + "\n" + #"{"key":"b","text":"\#(value)"}"#)
    let run = await CommandRun("import", store, "things", file)
    #expect(run.status == 2)
    #expect(run.errors.contains("large.jsonl:2:"))
    #expect(await CommandRun("get", store, "things", "a").text == "one")
  }

  @Test func `a missing store, cache or file is an error that names it`() async throws {
    await put("a", "one")
    #expect(await CommandRun("export", folder.path + "/absent", "things").status == 2)
    #expect(await CommandRun("export", store, "others").status == 1)
    let file = await CommandRun("export", store, "things", folder.path + "/absent/file")
    #expect(file.status == 2)
    #expect(file.errors.contains("absent/file"))
    let run = await CommandRun("import", store, "things", folder.path + "/absent.jsonl")
    #expect(run.status == 2)
    #expect(run.errors.contains("absent.jsonl"))
    #expect(await CommandRun("import", folder.path + "/new", "things", folder.path + "/absent.jsonl").status == 2)
  }

  @Test(arguments: [("e\u{301}", true), ("\u{E9}", false), ("plain", false)])
  func `the bytes of a key survive an export, even in a Unicode form that an import would change`(
    key: String, isEncoded: Bool
  ) throws {
    let time = WallTime(nanosecondsSince1970: 1)
    let record = ExportedRecord(key: Array(key.utf8), metadata: RecordMetadata(created: time, cost: 1), bytes: [1])
    let line = record.line(.base64)
    #expect(String(decoding: line, as: UTF8.self).contains("keyBase64") == isEncoded)
    #expect(try ExportedRecord(line: line, now: time).key == record.key)
  }

  @Test func `a single record is counted in the singular`() async throws {
    await put("a", "one")
    let export = await CommandRun("export", store, "things")
    #expect(export.errors == "1 record of 'things' exported\n")
    #expect(
      await CommandRun(["import", store, "things"], input: export.output).errors == "1 record imported into 'things'\n")
  }

  @Test func `an empty export is empty text, which can be imported`() async throws {
    await put("a", "one")
    #expect(await CommandRun("remove", store, "things", "a").status == 0)
    let export = await CommandRun("export", store, "things")
    #expect(export.status == 0)
    #expect(export.output.isEmpty)
    #expect(await CommandRun(["import", store, "things"], input: []).status == 0)
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000000000Z"), (-1, "1969-12-31T23:59:59.999999999Z"),
      (1_709_164_800_000_000_005, "2024-02-29T00:00:00.000000005Z"),
      (951_782_400_000_000_000, "2000-02-29T00:00:00.000000000Z"),
    ] as [(Int64, String)])
  func `times are text with nanoseconds`(nanoseconds: Int64, text: String) {
    let time = WallTime(nanosecondsSince1970: nanoseconds)
    #expect(TimestampText.format(time) == text)
    #expect(TimestampText.parse(text) == time)
  }

  @Test func `times may omit digits`() {
    #expect(TimestampText.parse("1970-01-01T00:00:01Z") == WallTime(nanosecondsSince1970: 1_000_000_000))
    #expect(TimestampText.parse("1970-01-01T00:00:00.25Z") == WallTime(nanosecondsSince1970: 250_000_000))
    for text in [
      "", "1970-01-01", "1970-13-01T00:00:00Z", "2023-02-29T00:00:00Z", "1970-01-01T24:00:00Z",
      "1970-01-01T00:00:00.٣Z",
    ] {
      #expect(TimestampText.parse(text) == nil, "\(text)")
    }
  }

  @Test(arguments: ["missing.jsonl", "bad.jsonl"])
  func `an unreadable or wrong import creates no store`(name: String) async throws {
    _ = try folder.file("bad.jsonl", #"{"key":"a""#)
    let run = await CommandRun("import", other, "things", folder.path + "/" + name, "--disk-limit", "1MiB")
    #expect(run.status == 2)
    #expect(run.errors.contains(name) && run.errors.contains("nothing was imported"))
    #expect(!FileManager.default.fileExists(atPath: other))
  }

  @Test func `an import reads a pipe once`() async throws {
    let line = #"{"key":"a","text":"one"}"# + "\n"
    let path = try folder.pipe("pipe", sending: Array(line.utf8))
    let run = await CommandRun("import", other, "things", path, "--disk-limit", "1MiB")
    #expect(run.status == 0, "\(run.errors)")
    #expect(await CommandRun("get", other, "things", "a").text == "one")
  }
}
