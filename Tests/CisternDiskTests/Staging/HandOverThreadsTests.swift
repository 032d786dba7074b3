import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The hand-over of invalidations and writes to the writer thread, while another thread stages both.
@Suite struct HandOverThreadsTests {
  #if THREAD_SANITIZER || DEBUG
    private static let count = 50_000
  #else
    private static let count = 400_000
  #endif

  @Test func `a write is handed over between the invalidations before and after it`() async {
    let partition = Partition(name: "values")
    let isDone = Switch<Bool>()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<Self.count {
          let version = partition.stageInvalidation(.tag("t"), limit: .max) { .zero }.invalidationVersion
          var metadata = RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1, tags: ["t"])
          metadata.localVersion = version
          _ = partition.stage(.record(key: [UInt8(number % 64)], metadata, bytes: [])) { .zero }
        }
        isDone.set(true)
      }
      group.addTask {
        var newest = InvalidationVersion.zero
        var taken = 0
        var isLast = false
        while !isLast {
          // The last hand-over begins after the last write.
          isLast = isDone.peek() != nil
          let batch = partition.beginCommitting()
          let before = newest
          if let (_, version) = batch.invalidated { newest = version }
          var early = 0
          var late = 0
          for entry in batch.writes.joined() {
            guard case .record(_, let metadata, _) = entry.write else { continue }
            taken += 1
            if metadata.localVersion > newest { early += 1 }
            if metadata.localVersion < before { late += 1 }
          }
          #expect(early == 0, "the invalidation before the write would conceal it")
          #expect(late == 0, "the invalidation after the write would not conceal it")
          partition.staging.finishCommitting()
        }
        #expect(taken > 0)
      }
    }
  }
}
