import Foundation
import Testing
import TestDirectories

@testable import StressKit

/// Commands that write to a store with an unusable data file. A program sets such a file aside, but a command leaves
/// it.
@Suite struct DamagedStoreTests {
  private let folder: TemporaryDirectory
  private var store: String { folder.path + "/store" }

  init() async throws {
    folder = TemporaryDirectory()
    let lines = (0..<50).map { #"{"key":"key\#($0)","text":"\#(String(repeating: "v", count: 300))"}"# }
    let run = await CommandRun(
      ["import", store, "things", "--disk-limit", "1MiB"], input: Array(lines.joined(separator: "\n").utf8))
    try #require(run.status == 0, "\(run.errors)")
  }

  /// The names and contents of the store's files.
  private func files() throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: store)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: store + "/" + $0))) })
  }

  /// Damages every page of a tree: it has more nodes than a page can hold.
  private func damage() throws {
    let path = URL(fileURLWithPath: store + "/data.mdb")
    var bytes = try Data(contentsOf: path)
    for page in stride(from: 8192, to: bytes.count, by: 4096) where bytes[page + 10] & 3 != 0 {
      bytes.replaceSubrange(page + 12..<page + 14, with: [0xFE, 0xFF])
    }
    try bytes.write(to: path)
  }

  private static let commands: [[String]] = [
    ["compact"], ["put", "things", "key1"], ["remove", "things", "key1"], ["remove", "things", "--all"],
    ["remove", "things", "--prefix", "key"], ["import", "things"],
  ]

  @Test(arguments: commands)
  func `a command on a damaged store fails with the damage and leaves the files unchanged`(
    command: [String]
  ) async throws {
    try damage()
    let before = try files()
    let line = #"{"key":"key1","text":"new"}"#
    let run = await CommandRun([command[0], store] + command.dropFirst(), input: Array(line.utf8))
    #expect(run.status == 2)
    #expect(run.errors.contains("damaged"), "\(run.errors)")
    #expect(try files() == before)
  }

  @Test func `a data file from a backup is readable and writable, and reported as older`() async throws {
    let path = URL(fileURLWithPath: store + "/data.mdb")
    let backup = try Data(contentsOf: path)
    for number in 0..<5 {
      let run = await CommandRun(["put", store, "things", "later\(number)"], input: [1])
      try #require(run.status == 0, "\(run.errors)")
    }
    try backup.write(to: path)
    let list = await CommandRun("list", store, "things", "--keys-only")
    #expect(list.status == 0, "\(list.errors)")
    #expect(list.text.split(separator: "\n").count == 50)
    #expect(list.errors.contains("may be back"), "\(list.errors)")
    let put = await CommandRun(["put", store, "things", "new"], input: [1])
    #expect(put.status == 0, "\(put.errors)")
    #expect(await CommandRun("get", store, "things", "new").output == [1])
  }

  @Test(arguments: commands)
  func `a command on another program's file fails and leaves the files unchanged`(command: [String]) async throws {
    _ = try folder.file("store/data.mdb", [UInt8](repeating: 7, count: 10_000))
    let before = try files()
    let line = #"{"key":"key1","text":"new"}"#
    let run = await CommandRun([command[0], store] + command.dropFirst(), input: Array(line.utf8))
    #expect(run.status == 2)
    #expect(!run.errors.isEmpty)
    #expect(try files() == before)
  }
}
