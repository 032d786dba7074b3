import CisternTestSupport
import CisternTesting
import Locking
import Synchronization
import Testing

@testable import CisternCore
@testable import CisternDisk

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Clears of one partition by several threads at the same time, as two stores of a directory make them.
@Suite struct OverlappingClearsThreadsTests {
  #if THREAD_SANITIZER || DEBUG
    private static let count = 100
  #else
    private static let count = 2_000
  #endif

  private static let metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1)

  /// The tickets of one partition.
  private final class Tickets: Sendable {
    private let number = Atomic<UInt64>(0)

    func next() -> CommitTicket { CommitTicket(number: number.add(1, ordering: .sequentiallyConsistent).newValue) }
  }

  private static func put(_ key: [UInt8], in partition: Partition, _ tickets: Tickets) {
    _ = partition.stage(.record(key: key, metadata, bytes: [1])) { tickets.next() }
  }

  @Test func `a write and a loss after a clear stay, although an earlier clear is not complete`() async {
    for _ in 0..<Self.count {
      let partition = Partition(name: "values")
      let tickets = Tickets()
      async let one = Self.clearAndWrite(marker: 1, in: partition, tickets)
      async let two = Self.clearAndWrite(marker: 2, in: partition, tickets)
      let later = await one > two ? UInt8(1) : 2
      #expect(Self.keys(later).allSatisfy { partition.stagedEntry(forKey: $0.rawSpan) != nil })
      let isLost = partition.isLost([255, later].rawSpan)
      #expect(isLost)
    }
  }

  private static func keys(_ marker: UInt8) -> [[UInt8]] { (0..<16).map { [marker, $0] } }

  /// Clears the partition on any thread, and then writes and loses keys.
  @concurrent private static func clearAndWrite(
    marker: UInt8, in partition: Partition, _ tickets: Tickets
  ) async -> CommitTicket {
    let ticket = partition.clear { tickets.next() }.ticket
    for key in keys(marker) { put(key, in: partition, tickets) }
    partition.lostKeys.insert(
      [255, marker], LostRecord(clearCount: partition.clearCount, invalidationVersion: 0, tags: []))
    return ticket
  }

  @Test func `a clear ends no requirement that follows it`() async throws {
    let scratch = TemporaryDirectory()
    let tier = try openTier(scratch, interval: .unreachable)
    let engine = tier.engine
    let partition = engine.partition(named: "values")
    let isDone = Switch<Bool>()
    let hasStarted = Switch<Bool>()
    // Own threads: tasks of a pool with one thread would not overlap.
    await withTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: ThreadPerJob()) {
        while hasStarted.peek() == nil { sched_yield() }
        for _ in 0..<Self.count * 10 { _ = engine.stageRemovalOfAll(of: partition) }
        isDone.set(true)
      }
      group.addTask(executorPreference: ThreadPerJob()) {
        hasStarted.set(true)
        while isDone.peek() == nil {
          let clearCount = partition.clearCount
          engine.requireRemovalOfAll(of: partition)
          if partition.clearState.mustClear { continue }
          #expect(partition.clearCount != clearCount, "no clear has followed")
        }
      }
    }
    try await tier.close()
  }
}
