import Foundation
import Testing
import TestDirectories

@testable import StressKit

/// Commands that read a store with one damaged record.
@Suite struct DamagedRecordTests {
  private let folder: TemporaryDirectory
  private var store: String { folder.path + "/store" }

  init() async throws {
    folder = TemporaryDirectory()
    let value = String(repeating: "v", count: 3_000)
    let lines = (0..<200).map { #"{"key":"key/\#($0)","text":"\#(value)"}"# }
    let run = await CommandRun(
      ["import", store, "things", "--disk-limit", "4MiB"], input: Array(lines.joined(separator: "\n").utf8))
    try #require(run.status == 0, "\(run.errors)")
    let file = URL(fileURLWithPath: store + "/data.mdb")
    var bytes = try Data(contentsOf: file)
    let key = try #require(bytes.range(of: Data("key/150".utf8)))
    // A byte of this value or of the next one.
    bytes[key.upperBound + 1_000] ^= 1
    try bytes.write(to: file)
  }

  /// Returns the key that an export without the damaged record lacks.
  private func damagedKey() async throws -> String {
    let export = await CommandRun("export", store, "things", "--skip-damaged")
    return try #require((0..<200).map { "key/\($0)" }.first { !export.text.contains(#""\#($0)""#) })
  }

  @Test func `an export of a damaged record fails, and keeps the existing file`() async throws {
    let path = try folder.file("export.jsonl", "old")
    let run = await CommandRun("export", store, "things", path)
    #expect(run.status == 1)
    #expect(run.errors.contains("'things' has 1 damaged record; --skip-damaged exports the others"), "\(run.errors)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("old".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["export.jsonl", "store"])
  }

  @Test func `an export can leave damaged records out, and says how many`() async throws {
    let path = folder.path + "/export.jsonl"
    let run = await CommandRun("export", store, "things", path, "--skip-damaged")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("199 records of 'things' exported; 1 damaged record left out\n"), "\(run.errors)")
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    #expect(text.split(separator: "\n").count == 199)
  }

  @Test func `a list without a damaged record is printed, and fails`() async {
    let run = await CommandRun("list", store, "things", "--keys-only")
    #expect(run.status == 1)
    #expect(run.errors.contains("the list lacks 1 damaged record of 'things'"), "\(run.errors)")
    #expect(run.text.split(separator: "\n").count == 199)
  }

  @Test func `a damaged value is no absent one`() async throws {
    let key = try await damagedKey()
    let run = await CommandRun("get", store, "things", key)
    #expect(run.status == 1)
    #expect(run.errors.contains("the record of '\(key)' in 'things' is damaged"), "\(run.errors)")
    let absent = await CommandRun("get", store, "things", "key/200")
    #expect(absent.errors.contains("has no key 'key/200'"), "\(absent.errors)")
  }
}
