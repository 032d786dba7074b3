import Cistern
import Foundation
import Testing
import TestDirectories

@testable import StressKit

/// The commands that inspect a store, on records with all metadata and with unpurged invalidations.
@Suite struct StoreMetadataTests {
  private let folder = TemporaryDirectory()
  private var store: String { folder.path + "/store" }

  private static let full: RecordMetadata = {
    var metadata = RecordMetadata(
      created: WallTime(nanosecondsSince1970: 1_700_000_000_000_000_000),
      expires: WallTime(nanosecondsSince1970: 9_000_000_000_000_000_000), cost: 12, schemaVersion: 7,
      tags: ["kept", "more"])
    metadata.grace = 5
    metadata.idle = 9_000_000_000_000_000_000
    metadata.refreshAhead = 3
    return metadata
  }()

  /// Stores five hundred records with a tag, invalidates the tag, and stores one record with all metadata and a
  /// negative one.
  private func fill() async throws {
    let disk = try StoreOnDisk(writing: store, orMakingWith: .mebibytes(4))
    let partition = try disk.partition("things", beginning: true)
    for number in 0..<500 {
      var metadata = RecordMetadata(created: Self.full.created, cost: 1, tags: ["gone"])
      metadata.localVersion = partition.invalidationVersion
      _ = partition.stage(
        .record(key: Array("old\(number)".utf8), metadata, bytes: [UInt8](repeating: 1, count: 1_000)))
    }
    try await disk.tier.flush()
    _ = partition.stageInvalidation(.tag("gone"))
    _ = partition.stageInvalidation(.prefix(Array("nothing/".utf8)))
    var metadata = Self.full
    metadata.localVersion = partition.invalidationVersion
    _ = partition.stage(.record(key: Array("full".utf8), metadata, bytes: Array("value".utf8)))
    var absent = RecordMetadata(created: Self.full.created, cost: 1)
    absent.localVersion = partition.invalidationVersion
    absent.isNegative = true
    _ = partition.stage(.record(key: Array("absent".utf8), absent, bytes: []))
    try await disk.close()
  }

  @Test func `a store with pending invalidations can be verified and counted`() async throws {
    try await fill()
    let verify = await CommandRun("verify", store)
    #expect(verify.status == 0, "\(verify.text)\(verify.errors)")
    let stat = await CommandRun("stat", store, "--json")
    #expect(stat.status == 0)
    #expect(stat.text.contains("things"))
    #expect(await CommandRun("get", store, "things", "old1").status == 1)
    #expect(await CommandRun("get", store, "things", "full").text == "value")
  }

  @Test func `invalidated records are not listed, and tags are`() async throws {
    try await fill()
    let list = await CommandRun("list", store, "things")
    #expect(list.text.contains("kept,more"))
    #expect(!list.text.contains("old1"))
    let export = await CommandRun("export", store, "things")
    #expect(export.output.split(separator: UInt8(ascii: "\n")).count == 2)
  }

  @Test func `compacting keeps metadata and does not restore invalidated records`() async throws {
    try await fill()
    let compact = await CommandRun("compact", store)
    #expect(compact.status == 0, "\(compact.errors)")
    #expect(await CommandRun("verify", store).status == 0)
    #expect(await CommandRun("get", store, "things", "old1").status == 1)
    let disk = try StoreOnDisk(reading: store)
    let partition = try disk.partition("things")
    var metadata = try #require(partition.record(forKey: Array("full".utf8))).metadata
    metadata.invalidationVersion = 0
    #expect(metadata == Self.full)
    #expect(try #require(partition.record(forKey: Array("absent".utf8))).metadata.isNegative)
    try await disk.close()
  }

  @Test func `a record imported after an invalidation is readable`() async throws {
    try await fill()
    let line = #"{"key":"old1","text":"new","tags":["gone"]}"#
    #expect(await CommandRun(["import", store, "things"], input: Array(line.utf8)).status == 0)
    #expect(await CommandRun("get", store, "things", "old1").text == "new")
  }
}
