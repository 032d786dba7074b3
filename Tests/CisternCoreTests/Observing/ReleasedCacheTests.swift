import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Sequences whose cache is released, while another object keeps a part of it.
@Suite struct ReleasedCacheTests {
  /// Starts a task that records a name after the end of a sequence.
  private func consume<Source: AsyncSequence & Sendable>(
    _ source: Source, _ name: String, into ended: Recorder<String>, on executor: SeededExecutor
  ) -> Task<Void, Never> where Source.Failure == Never {
    Task(executorPreference: executor) {
      for await _ in source {}
      ended.record(name)
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `all sequences end with their cache, although an entry of it is kept`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 20) { executor in
      var subject: Subject? = try Subject(kind, on: executor)
      var cache = subject?.cache
      cache?["a"] = 1
      let entry = try #require(try cache?.page().entries.first)
      let events = try #require(cache?.loader.events)
      let updates = try #require(cache?.updates())
      let (sets, all) = (try #require(cache?.changeSets()), try #require(cache?.events))
      let (values, contents) = (try #require(cache?.valueUpdates(forKey: "a")), try #require(cache?.contentUpdates()))
      let ended = Recorder<String>()
      var consumers = [
        consume(updates, "updates", into: ended, on: executor), consume(sets, "sets", into: ended, on: executor),
        consume(values, "values", into: ended, on: executor), consume(contents, "contents", into: ended, on: executor),
        consume(all, "events", into: ended, on: executor),
      ]
      for _ in 0..<20 { await Task.yield() }
      try #require(ended.elements == [])
      cache = nil
      subject = nil
      for _ in 0..<100 { await Task.yield() }
      let names = ended.elements.sorted()
      // Iterators that begin later end at once.
      consumers.append(consume(updates, "later updates", into: ended, on: executor))
      consumers.append(consume(all, "later events", into: ended, on: executor))
      for _ in 0..<100 { await Task.yield() }
      for consumer in consumers { consumer.cancel() }
      try #require(names == ["contents", "events", "sets", "updates", "values"])
      try #require(ended.elements.suffix(2).sorted() == ["later events", "later updates"])
      try #require(entry.value() == 1)
      withExtendedLifetime(events) {}
    }
  }
}
