import Cistern
import Foundation
import Testing
import TestDirectories

@testable import StressKit

/// `cistern compact`: the records that it removes, and the stores that it refuses.
@Suite struct CompactTests {
  private let folder: TemporaryDirectory
  private var store: String { folder.path + "/store" }
  private var dataFile: String { store + "/data.mdb" }

  /// An empty store has two pages for LMDB, and one or two for each of its tables.
  private static let emptyStore = 32 << 10

  init() async throws {
    folder = TemporaryDirectory()
    let value = String(repeating: "v", count: 3_000)
    let lines = (0..<200).map {
      #"{"key":"\#($0 < 100 ? "old" : "new")/\#($0)","text":"\#(value)","tags":["t\#($0 % 2)"]}"#
    }
    let run = await CommandRun(
      ["import", store, "things", "--disk-limit", "4MiB"], input: Array(lines.joined(separator: "\n").utf8))
    try #require(run.status == 0, "\(run.errors)")
  }

  private func size() throws -> Int {
    try FileManager.default.attributesOfItem(atPath: dataFile)[.size] as? Int ?? 0
  }

  private func compact() async throws -> Int {
    let run = await CommandRun("compact", store)
    #expect(run.status == 0, "\(run.errors)")
    #expect(await CommandRun("verify", store).status == 0)
    return try size()
  }

  @Test func `after the removal of everything, the file is as small as an empty store`() async throws {
    #expect(await CommandRun("remove", store, "things", "--all").status == 0)
    #expect(try await compact() <= Self.emptyStore)
  }

  @Test(arguments: [["--prefix", "old/"], ["--tag", "t1"]])
  func `after a partial removal, the file contains only the other records`(arguments: [String]) async throws {
    let before = try await compact()
    #expect(await CommandRun(["remove", store, "things"] + arguments).status == 0)
    #expect(try await compact() < before * 6 / 10)
    let list = await CommandRun("list", store, "things", "--keys-only")
    #expect(list.text.split(separator: "\n").count == 100)
    // The invalidation ended with its records, and does not affect later ones.
    let key = arguments[0] == "--tag" ? "new/101" : "old/1"
    let line = #"{"key":"\#(key)","text":"again","tags":["t1"]}"#
    #expect(await CommandRun(["import", store, "things"], input: Array(line.utf8)).status == 0)
    #expect(await CommandRun("get", store, "things", key).text == "again")
  }

  @Test func `a full store can be compacted after the removal of everything`() async throws {
    let value = String(repeating: "v", count: 3_000)
    let lines = (0..<3_000).map { #"{"key":"\#($0)","text":"\#(value)"}"# }
    #expect(
      await CommandRun(["import", store, "things"], input: Array(lines.joined(separator: "\n").utf8)).status == 0)
    #expect(await CommandRun("remove", store, "things", "--all").status == 0)
    #expect(try await compact() <= Self.emptyStore)
  }

  @Test func `a damaged record is left out, and counted`() async throws {
    let file = URL(fileURLWithPath: dataFile)
    var bytes = try Data(contentsOf: file)
    let key = try #require(bytes.range(of: Data("new/150".utf8)))
    // A byte of this value or of the next one.
    bytes[key.upperBound + 1000] ^= 1
    try bytes.write(to: file)
    let verify = await CommandRun("verify", store)
    #expect(verify.status == 1 && verify.errors.contains(": 1 problem found"), "\(verify.errors)")
    let run = await CommandRun("compact", store)
    #expect(run.status == 0 && run.text.contains("1 damaged record removed"), "\(run.text) \(run.errors)")
    let list = await CommandRun("list", store, "things", "--keys-only")
    #expect(list.text.split(separator: "\n").count == 199)
    #expect(await CommandRun("verify", store).status == 0)
  }

  @Test func `an empty data file is not compacted`() async throws {
    _ = try folder.file("store/data.mdb", [UInt8]())
    let run = await CommandRun("compact", store)
    #expect(run.status == 2)
    #expect(run.errors.contains("empty"), "\(run.errors)")
    #expect(!run.errors.contains("in memory"), "\(run.errors)")
    #expect(try size() == 0)
  }

  @Test func `an open store is not compacted`() async throws {
    let open = try StoreOnDisk(writing: store)
    let run = await CommandRun("compact", store)
    #expect(run.status == 2)
    #expect(run.errors.contains("open"), "\(run.errors)")
    try await open.close()
    #expect(try await compact() > 0)
  }
}
