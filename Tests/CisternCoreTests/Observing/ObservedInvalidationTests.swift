import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// The changes that observers receive for invalidations, and observations of tags.
struct ObservedInvalidationTests {
  @Test(arguments: SubjectKind.caches)
  func `observers receive an invalidation once, in order with changes of keys, and the next value as an insertion`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(kind, on: executor, settings: .taggingOdd)
      let cache = subject.cache
      let audit = ChangeAudit()
      let token = cache.observe { audit.take($0) }
      let writers = (0..<3).map { writer in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed &* 3 &+ UInt64(writer))
          for number in 0..<12 {
            let key = generator.next(below: 2) == 0 ? "a/\(generator.next(below: 2))" : "b"
            switch generator.next(below: 7) {
            case 0: cache.removeAll(tagged: "odd")
            case 1: cache.removeAll(withPrefix: "a/")
            case 2: cache.removeValue(forKey: key)
            case 3: _ = cache[key]
            case 4: cache.trim(toCost: 0)
            case 5: _ = try? await cache.value(forKey: key) { _ in number }
            default: cache.setValue(number, forKey: key)
            }
            await pause(&generator, atMost: 2)
          }
        }
      }
      for writer in writers { await writer.value }
      for _ in 0..<200 { await Task.yield() }
      try #require(audit.findings == [])
      for key in ["a/0", "a/1", "b"] { try #require(cache[key] == audit.values[key]) }
      try #require(subject.findings == [])
      token.cancel()
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `an observer of a tag receives each change of the values that carry it once, and no others`(
    kind: SubjectKind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let heard = Recorder<String>()
      let token = cache.observe(.tagged("news")) { change in
        switch change.event {
        case .inserted(let key, let value): heard.record("+\(key)=\(value)")
        case .updated(let key, let value): heard.record("\(key)=\(value)")
        case .removed(let key, let cause): heard.record("-\(key) \(cause)")
        case .cleared: heard.record("cleared")
        case .invalidated(let invalidation): heard.record("\(invalidation)")
        }
      }
      cache.setValue(1, forKey: "a", tags: ["news", "sport"])
      cache.setValue(1, forKey: "b", tags: ["sport"])
      cache.setValue(2, forKey: "a", tags: ["news"])
      cache.setValue(2, forKey: "b", tags: ["news"])
      cache.setValue(3, forKey: "b")
      cache.setValue(4, forKey: "b")
      _ = try await cache.value(forKey: "c", tags: ["news"]) { _ in 7 }
      cache.removeValue(forKey: "a")
      try cache.batch { batch in
        batch.setValue(8, forKey: "d", tags: ["news"])
        batch.setValue(8, forKey: "e")
      }
      cache.removeValue(forKey: "e")
      cache.removeAll(tagged: "news")
      for _ in 0..<100 { await Task.yield() }
      try #require(
        heard.elements == ["+a=1", "a=2", "b=2", "b=3", "+c=7", "-a explicit", "+d=8", "tag(\"news\")"])
      token.cancel()
      try #require(subject.findings == [])
    }
  }
}
