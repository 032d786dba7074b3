import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// The writes that a cache stages, and when it reports them as durable. Tests with real files and killed processes
/// cover LMDB itself.
struct CrashedTierTests {
  private static let keys = ["a", "b", "c"]

  @Test func `after a crash at any instant each key has its last committed value or a newer one`() throws {
    try SeededSchedule.explore(seeds: 400) { executor in
      let subject = try Subject(.staging, on: executor)
      let cache = subject.cache
      let tier = try #require(subject.tier)
      let committer = Task(executorPreference: executor) {
        while !Task.isCancelled {
          tier.commit(1 + Int(executor.seed % 3))
          await Task.yield()
        }
      }
      // The writes of each key in order, with nil for a removal, and the number of writes that were reported as
      // durable.
      let histories = Self.keys.map { (key: $0, writes: Recorder<Int?>(), committed: Recorder<Int>()) }
      let writers = histories.enumerated().map { index, history in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed * 3 + UInt64(index))
          for number in 1...12 {
            let value = generator.next(below: 3) == 0 ? nil : number
            history.writes.record(value)
            switch generator.next(below: 3) {
            case 0:
              if let value {
                try await cache.commitValue(value, forKey: history.key)
              } else {
                try await cache.commitRemoval(forKey: history.key)
              }
              history.committed.record(history.writes.count)
            default: cache[history.key] = value
            }
            await pause(&generator, atMost: 2)
          }
        }
      }
      var generator = SeededGenerator(seed: executor.seed)
      await pause(&generator, atMost: 60)
      // The process crashes here.
      let crashed = try subject.reopened(after: true)
      for history in histories {
        let writes = [nil] + history.writes.elements
        let floor = history.committed.elements.last ?? 0
        let found = crashed.cache[history.key]
        try #require(writes[floor...].contains(found), "\(history.key): \(String(describing: found)) of \(writes)")
      }
      for writer in writers { try await writer.value }
      committer.cancel()
    }
  }

  @Test func `the asynchronous forms return after the commit, and the synchronous ones before it`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(.staging, on: executor)
      let tier = try #require(subject.tier)
      let finished = Recorder<String>()
      let setting = Task(executorPreference: executor) {
        try await subject.cache.commitValue(1, forKey: "a")
        finished.record("set")
      }
      while tier.statistics.stagedCount < 1 { await Task.yield() }
      for _ in 0..<10 { await Task.yield() }
      try #require(finished.count == 0)
      try #require(subject.cache["a"] == 1)
      tier.commit()
      try await setting.value
      try #require(try subject.reopened(after: true).cache["a"] == 1)

      let removal = Task(executorPreference: executor) {
        try await subject.cache.commitRemoval(forKey: "a")
        finished.record("removal")
      }
      while tier.statistics.stagedCount < 1 { await Task.yield() }
      for _ in 0..<10 { await Task.yield() }
      try #require(finished.count == 1)
      try #require(subject.cache["a"] == nil)
      try #require(try subject.reopened(after: true).cache["a"] == 1)
      tier.commit()
      try await removal.value
      try #require(try subject.reopened(after: true).cache["a"] == nil)
    }
  }

  @Test func `a failed commit is thrown to its waiters, and the next commit succeeds`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try Subject(.staging, on: executor)
      let tier = try #require(subject.tier)
      tier.failCommits()
      let setting = Task(executorPreference: executor) { try await subject.cache.commitValue(1, forKey: "a") }
      while tier.statistics.stagedCount < 1 { await Task.yield() }
      tier.commit()
      await #expect { try await setting.value } throws: { ($0 as? CisternError)?.code == .noSpace }
      let again = Task(executorPreference: executor) { try await subject.cache.commitValue(2, forKey: "a") }
      while tier.statistics.stagedCount < 1 { await Task.yield() }
      tier.commit()
      try await again.value
      try #require(try subject.reopened(after: true).cache["a"] == 2)
      try #require(subject.findings == [])
    }
  }

  @Test func `writers wait for space without blocking readers, and lose no value`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let tier = try #require(subject.tier)
      subject.cache["b"] = 1
      tier.room.close()
      let load = subject.load("a") { _ in 2 }
      let setting = Task(executorPreference: executor) { try await subject.cache.commitValue(3, forKey: "c") }
      await tier.room.arrivals(atLeast: 2)
      try #require(subject.cache["b"] == 1)
      try #require(subject.cache["c"] == nil)
      // A write during the wait wins over the waiting flight.
      let isOvertaken = executor.seed % 2 == 0
      if isOvertaken { subject.cache["a"] = 4 }
      tier.room.open()
      try #require(try await load.value == 2)
      try await setting.value
      try #require(subject.cache["a"] == (isOvertaken ? 4 : 2))
      try #require(subject.cache["c"] == 3)
      try #require(subject.findings == [])
    }
  }

  @Test func `a cache works in memory while its tier fails, and returns no stale value afterwards`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let tier = try #require(subject.tier)
      let cache = subject.cache
      cache["a"] = 1
      cache["b"] = 1
      cache["c"] = 1
      tier.setMode(.degraded)
      cache["a"] = 2
      cache["b"] = nil
      try #require(cache["a"] == 2)
      try #require(cache["b"] == nil)
      try #require(cache["c"] == 1)
      try #require(try await subject.value("d") { _ in 4 } == 4)
      await #expect(throws: CisternError.self) { try await cache.commitValue(5, forKey: "e") }
      tier.setMode(.active)
      cache.trim(toCost: 0)
      try #require(cache["a"] == nil)
      try #require(cache["b"] == nil)
      try #require(cache["c"] == 1)
      try #require(subject.findings == [])
    }
  }
}
