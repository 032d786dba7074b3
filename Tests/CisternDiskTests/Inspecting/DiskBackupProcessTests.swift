import CisternTestSupport
import CisternTesting
import Foundation
import Locking
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Backups while threads and processes change the store, and backups of a process that is killed.
@Suite(.serialized) struct DiskBackupProcessTests {
  /// A pause of the writer, which the writer acknowledges.
  private final class Pause: Sendable {
    private enum State: Sendable { case ended, requested, begun }

    private let state = Guarded(State.ended)

    /// Requests the pause, and waits until the writer makes it.
    func begin() async {
      state.withLock { $0 = .requested }
      while state.withLock({ $0 }) != .begun { await Task.yield() }
    }

    func end() { state.withLock { $0 = .ended } }

    /// Whether the writer must wait. Acknowledges the pause.
    func stopsWriter() -> Bool {
      state.withLock { state in
        if state == .requested { state = .begun }
        return state == .begun
      }
    }
  }

  /// Backs up. If the writers need the pages of the snapshot, pauses them and tries again.
  private func backUp(_ tier: DiskTier, to target: String, _ pause: Pause) async throws {
    do {
      try await tier.backUp(to: target)
    } catch let error as CisternError where error.code == .noSpace {
      await pause.begin()
      defer { pause.end() }
      // The commit of the staged writes could need the pages of the next snapshot, too.
      try? await tier.flush()
      try await tier.backUp(to: target)
    }
  }

  @Test func `a backup amid writes, evictions and invalidations has the state of one commit`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, limit: .mebibytes(1))
    let cache = try tier.cache()
    let ended = Guarded(0)
    let isOver = Guarded(false)
    let pause = Pause()
    let writer = Task.detached {
      var number = 0
      while !isOver.withLock({ $0 }) {
        number += 1
        while pause.stopsWriter(), !isOver.withLock({ $0 }) { await Task.yield() }
        await cache.waitForRoom()
        let batch = cache.beginBatch()
        for slot in 0..<10 {
          let key = bytes("key-\(slot + (number % 2 == 1 ? 0 : 5))")
          let bytes = bytes("\(number):") + value(number, size: number % 2000)
          _ = cache.stage(
            DiskPartition.write(key, bytes, invalidationVersion: cache.invalidationVersion), in: batch)
        }
        cache.endBatch(batch)
        for other in 0..<3 { cache.put("other-\(number * 3 + other)", value(number, size: 900), tags: ["others"]) }
        if number % 50 == 0 { _ = cache.stageInvalidation(.tag("others")) }
        ended.withLock { $0 = number }
      }
    }
    for round in 0..<8 {
      while ended.withLock({ $0 }) < (round + 1) * 40 { await Task.yield() }
      let flushed = ended.withLock { $0 }
      try await backUp(tier, to: "\(scratch.copy)-\(round)", pause)
      let copy = try openCopy(scratch, "copy-\(round)", limit: .mebibytes(1))
      #expect(copy.checkInvariants() == [])
      expectWholeBatches(in: try copy.cache(), notBefore: flushed, "round \(round)")
      try await copy.close()
    }
    isOver.withLock { $0 = true }
    await writer.value
    try await tier.flush()
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a backup while another process writes has whole batches and all that this process had seen`()
    async throws
  {
    let scratch = TemporaryDirectory()
    // The other process cannot interrupt the reads of this one. It writes less during a read than the file has room
    // for.
    let child = try ChildProcess("batch-in-step", scratch.store, "\(64 << 20)", "processCrash")
    let tier = try openTier(scratch, limit: .mebibytes(64))
    for round in 0..<6 {
      let flushed = try #require(child.readLine().flatMap { Int($0.prefix { $0 != " " }) })
      #expect(try await tier.verification().isSound)
      try await tier.backUp(to: "\(scratch.copy)-\(round)")
      let copy = try openCopy(scratch, "copy-\(round)", limit: .mebibytes(64))
      #expect(copy.checkInvariants() == [])
      expectWholeBatches(in: try copy.cache(), notBefore: flushed, "round \(round)")
      try await copy.close()
    }
    _ = child.kill()
    try await tier.close()
  }

  @Test func `after SIGKILL during a backup the copy is complete or absent, and the next backup succeeds`()
    async throws
  {
    var generator = SeededGenerator(seed: 11)
    // The names that appear one after the other in the incomplete copy.
    for name in ["", "data.mdb", "lock.mdb", "cistern.mark"] {
      let scratch = TemporaryDirectory()
      let child = try ChildProcess("backup", scratch.store, "\(4 << 20)", "processCrash")
      #expect(child.readLine() == "filled")
      let before = Int.random(in: 1...4, using: &generator)
      for number in 1...before { #expect(child.readLine() == "\(number)") }
      let target = scratch.store + "-copy-\(before + 1)"
      let files = FileManager.default
      while !files.fileExists(atPath: target + ".incomplete/" + name), !files.fileExists(atPath: target) {
        await Task.yield()
      }
      _ = child.kill()
      let names = scratch.names(in: ".").filter { $0 != "store" }
      let incomplete = names.filter { $0.hasSuffix(".incomplete") }
      #expect(incomplete.count <= 1 && names.count - incomplete.count >= before)
      for copy in names where !incomplete.contains(copy) { try await expectComplete(scratch, copy) }
      let tier = try openTier(scratch, limit: .mebibytes(4))
      for copy in incomplete {
        let copy = String(copy.dropLast(".incomplete".count))
        try await tier.backUp(to: scratch.path + "/" + copy)
        try await expectComplete(scratch, copy)
      }
      try await tier.close()
      #expect(!scratch.names(in: ".").contains { $0.hasSuffix(".incomplete") })
    }
  }

  private func expectComplete(_ scratch: TemporaryDirectory, _ name: String) async throws {
    let copy = try openCopy(scratch, name, limit: .mebibytes(4))
    let cache = try copy.cache()
    for number in 0..<400 {
      #expect(cache.get("key-\(number)") == [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 2000))
    }
    #expect(copy.checkInvariants() == [])
    try await copy.close()
  }
}
