import CisternTesting
import Testing

@testable import CisternCore

/// Drafts that are discarded or saved while another operation of theirs is in progress.
struct DiscardedDraftTests {
  /// Actions of another thread, each of which runs once at the next point of an operation.
  private typealias Meanwhile = Recorder<@Sendable () -> Void>

  private static func run(_ meanwhile: Meanwhile) { meanwhile.removeAll().forEach { $0() } }

  /// Runs the actions during the load of "a" by the draft's next operation, which watches the key already.
  private static func run(_ meanwhile: Meanwhile, duringLoadBy draft: Draft<String, Fields>, _ subject: FieldsSubject) {
    subject.tier?.setAfterLoad { _ in
      if draft.state.withLock({ $0.hasSeen("a") }) { run(meanwhile) }
    }
  }

  @Test(arguments: [false, true])
  func `a write that begins before a discard or a save, and ends after it, conflicts with a later change`(
    isSaved: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let meanwhile = Meanwhile()
      var configuration = CacheConfiguration<Fields>(merge: { cached, incoming in
        Self.run(meanwhile)
        return try mergeFields(cached, incoming)
      })
      configuration.isEqual = { $0 == $1 }
      let subject = try FieldsSubject(.twoTiers, on: executor, configuration: configuration)
      let cache = subject.cache
      cache["a"] = ["v": 1]
      let draft = cache.draft()
      draft["a"] = ["mine": 1]
      meanwhile.record {
        if isSaved { #expect(throws: Never.self) { try draft.save() } } else { draft.discard() }
      }
      // The draft merges the two values that it shows, and then adds the write.
      draft["a"] = ["mine": 2]
      try #require(meanwhile.count == 0 && draft.writtenKeys == ["a"] && draft.conflicts == [])
      try #require(draft["a"] == ["mine": 2] && cache["a"] == (isSaved ? ["v": 1, "mine": 1] : ["v": 1]))
      cache["a"] = ["theirs": 1]
      try #require(draft.conflicts == ["a"])
      draft.discard()
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: [false, true])
  func `a read that begins before a discard or a save, and ends after it, conceals no later change`(
    isSaved: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.twoTiers, on: executor, configuration: CacheConfiguration(isEqual: ==))
      let (cache, meanwhile) = (subject.cache, Meanwhile())
      cache["a"] = ["v": 1]
      cache.trim(toCost: 0)
      let draft = cache.draft()
      let nested = draft.draft()
      // The draft keeps its base beyond a save, because the nested draft watches the key.
      if isSaved { nested.see("a") }
      meanwhile.record {
        if isSaved {
          draft["a"] = ["v": 2]
          #expect(throws: Never.self) { try draft.save() }
        } else {
          draft.discard()
          cache["a"] = ["v": 2]
          // Another use of the key has begun, and has not read the value yet.
          draft.see("a")
        }
      }
      Self.run(meanwhile, duringLoadBy: draft, subject)
      try #require(draft["a"] == ["v": 1] && meanwhile.count == 0)
      subject.tier?.setAfterLoad(nil)
      draft["a"] = ["mine": 1]
      try #require(draft.conflicts == [])
      // The value that the read found is another one than before this write.
      cache["a"] = ["v": 1]
      try #require(draft.conflicts == ["a"])
      let originals = Recorder<Fields?>()
      let policy = DraftConflictPolicy<String, Fields>.merge { conflict in
        originals.record(conflict.original)
        return conflict.mine
      }
      try draft.save(onConflict: policy)
      try #require(originals.elements == [nil] && cache["a"] == ["mine": 1])
      for one in [nested, draft] { one.discard() }
      try #require(subject.findings == [])
    }
  }

  @Test func `a value that was read before a discard is not the original of a later conflict`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(.twoTiers, on: executor, configuration: CacheConfiguration())
      let (cache, meanwhile) = (subject.cache, Meanwhile())
      cache["a"] = ["v": 1]
      cache.trim(toCost: 0)
      let draft = cache.draft()
      meanwhile.record {
        draft.discard()
        draft["a"] = ["mine": 1]
      }
      Self.run(meanwhile, duringLoadBy: draft, subject)
      try #require(draft["a"] == ["v": 1] && meanwhile.count == 0)
      subject.tier?.setAfterLoad(nil)
      cache["a"] = ["theirs": 1]
      try draft.save(
        onConflict: .merge { conflict in
          try #require(conflict.original == nil && conflict.theirs == ["theirs": 1])
          return conflict.mine
        })
      try #require(cache["a"] == ["mine": 1] && subject.findings == [])
    }
  }

  @Test func `a change after a discard during a save is a conflict of the save`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let meanwhile = Meanwhile()
      let configuration = CacheConfiguration<Fields>(isEqual: { one, other in
        Self.run(meanwhile)
        return one == other
      })
      let subject = try FieldsSubject(.memory, on: executor, configuration: configuration)
      let cache = subject.cache
      let draft = cache.draft()
      for key in ["a", "b"] {
        cache[key] = ["v": 1]
        draft[key] = ["mine": 1]
      }
      // The save compares the values of this key, because its version differs.
      for value in [["theirs": 1], ["v": 1]] { cache["a"] = value }
      meanwhile.record {
        draft.discard()
        cache["b"] = ["theirs": 1]
      }
      let error = #expect(throws: CisternError.self) { try draft.save() }
      try #require(error?.code == .conflict && meanwhile.count == 0 && draft.isEmpty)
      try #require(cache["a"] == ["v": 1] && cache["b"] == ["theirs": 1])
      try #require(subject.findings == [])
    }
  }

  @Test func `a discard during the save of a nested draft is no conflict`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let meanwhile = Meanwhile()
      let configuration = CacheConfiguration<Fields>(merge: { cached, incoming in
        Self.run(meanwhile)
        return try mergeFields(cached, incoming)
      })
      let subject = try FieldsSubject(.memory, on: executor, configuration: configuration)
      let outer = subject.cache.draft()
      let inner = outer.draft()
      outer["a"] = ["outer": 1]
      for key in ["a", "b"] { inner[key] = ["inner": 1] }
      meanwhile.record { inner.discard() }
      try inner.save()
      try #require(meanwhile.count == 0 && inner.isEmpty && outer.writtenKeys == ["a", "b"])
      try outer.save()
      try #require(subject.cache["a"] == ["outer": 1, "inner": 1] && subject.cache["b"] == ["inner": 1])
      try #require(subject.findings == [])
    }
  }

  @Test func `a discard during the save of a nested draft over several caches is no conflict`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let meanwhile = Meanwhile()
      let caches = try TwoCaches(over: nil, on: executor) { cached, incoming in
        Self.run(meanwhile)
        return try mergeFields(cached, incoming)
      }
      let fields = caches.fields
      let outer = caches.store.draft()
      let inner = outer.draft()
      outer["a", in: fields] = ["outer": 1]
      for key in ["a", "b"] { inner[key, in: fields] = ["inner": 1] }
      meanwhile.record { inner.discard() }
      try inner.save()
      try #require(meanwhile.count == 0 && inner.isEmpty && outer.writtenKeys(in: fields) == ["a", "b"])
      try outer.save()
      try #require(fields["a"] == ["outer": 1, "inner": 1] && fields["b"] == ["inner": 1])
      try #require(caches.findings == [])
    }
  }

  @Test func `a discarded key stays watched until the comparisons end that began before, and not longer`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: .memory, on: executor)
      let outer = subject.cache.draft()
      let inner = outer.draft()
      let watchedKeys = { outer.state.withLock { $0.seenKeys } }
      var oldest = inner.beginComparing()
      for key in ["a", "b", "c"] {
        _ = inner[key]
        let newer = inner.beginComparing()
        inner.discard()
        // Each comparison begins before the one before it ends.
        let newest = inner.beginComparing()
        inner.endComparing(newer)
        try #require(watchedKeys() == [key])
        inner.endComparing(oldest)
        try #require(watchedKeys() == [])
        oldest = newest
      }
      inner.endComparing(oldest)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a read that ends after a discard of its draft leaves nothing in this draft and the drafts below`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache["a"] = ["v": 1]
      let outer = cache.draft()
      let middle = outer.draft()
      let inner = middle.draft()
      _ = inner["a"]
      inner.discard()
      // The discarded drafts have the parts of a read that follow its watch.
      for draft in [inner, middle, outer] {
        try #require(draft.read("a").value == ["v": 1])
        let seenKeys = [inner, middle, outer].map { one in one.state.withLock { $0.seenKeys } }
        try #require(seenKeys == [[], [], []])
      }
      try #require(subject.findings == [])
      cache["a"] = ["theirs": 1]
      outer["a"] = ["mine": 1]
      try #require(outer.conflicts == [])
      outer.discard()
      try #require(subject.findings == [])
    }
  }
}
