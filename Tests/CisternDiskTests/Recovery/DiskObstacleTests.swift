import CisternTestSupport
import Foundation
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files and rights that keep a store from its own files.
@Suite struct DiskObstacleTests {
  private let scratch = TemporaryDirectory()

  private func open(_ layout: DiskLayout, limit: ByteCount = .mebibytes(4)) throws -> DiskTier {
    try DiskTier(directory: scratch.store, options: DiskOptions(limit: limit, layout: layout))
  }

  private func fill(_ layout: DiskLayout) async throws {
    let tier = try open(layout)
    try tier.cache("one").put("k", bytes("value"))
    try await tier.close()
  }

  /// The names of the directories that a compaction needs, with the layouts that need them.
  static let names: [(name: String, layout: DiskLayout)] = [
    (DiskDirectory.copy, .ordered), (DiskDirectory.copy, .dense), (DiskDirectory.rewritten, .dense),
  ]

  @Test(arguments: names)
  func `a file with the name of a directory for copies is named, and a compaction succeeds without it`(
    name: String, layout: DiskLayout
  ) async throws {
    try await fill(layout)
    try Data().write(to: scratch.url("store/\(name)"))
    let error = #expect(throws: CisternError.self) { try DiskTier.compact(directory: scratch.store) }
    #expect(error?.code == .diskFailed)
    #expect(error?.message.contains("the file \(name) is in the way") == true)
    try FileManager.default.removeItem(at: scratch.url("store/\(name)"))
    _ = try DiskTier.compact(directory: scratch.store)
    let tier = try open(layout)
    #expect(try tier.cache("one").get("k") == bytes("value"))
    try await tier.close()
  }

  @Test func `a conversion names the file, and the store keeps its values`() async throws {
    try await fill(.ordered)
    try Data().write(to: scratch.url("store/\(DiskDirectory.copy)"))
    let error = #expect(throws: CisternError.self) { try open(.dense) }
    #expect(error.map { "\($0)" }?.contains("the file \(DiskDirectory.copy) is in the way") == true)
    let tier = try open(.ordered)
    #expect(try tier.cache("one").get("k") == bytes("value"))
    try await tier.close()
  }

  @Test func `a reader without the right to write to the lock file learns of it`() throws {
    let limit = ByteCount.mebibytes(1)
    let opening = DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: limit, isReadOnly: true),
      limits: try DiskLimits(limit, location: scratch.store))
    let error = opening.cisternError(LMDBError(status: EACCES, operation: "open \(scratch.store)"))
    #expect(error.code == .directoryUnusable)
    #expect(error.message.contains("write to lock.mdb") && error.message.contains("backup"), "\(error)")
    let writing = DiskOpening(
      directory: scratch.store, options: DiskOptions(limit: limit),
      limits: try DiskLimits(limit, location: scratch.store))
    #expect(!writing.cisternError(LMDBError(status: EACCES, operation: "open")).message.contains("lock.mdb"))
  }
}
