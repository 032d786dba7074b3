import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Unconfirmed edits in combination with drafts, evictions, lifetimes and removals.
struct ConcurrentEditTests {
  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a draft saved under a pending edit does not make the edit permanent`(kind: FieldsSubject.Kind) throws {
    for fails in [true, false] {
      for nests in [true, false] {
        try SeededExecutor.run(seed: 0) { executor in
          let subject = try FieldsSubject(plain: kind, on: executor)
          let cache = subject.cache
          cache["k"] = ["likes": 1, "title": 1]
          let gate = Gate()
          let edit = subject.task {
            try await cache.editValue(forKey: "k") { value in
              var value = value
              value?["likes", default: 0] += 1
              return value
            } confirmedBy: {
              await gate.passUncancelled()
              if fails { throw Broken() }
              return nil
            }
          }
          await gate.arrivals(atLeast: 1)
          try #require(cache["k"] == ["likes": 2, "title": 1])
          let outer = cache.draft()
          let draft = nests ? outer.draft() : outer
          draft["k"]?["title"] = 2
          try draft.save()
          if nests { try outer.save() }
          try #require(cache["k"] == ["likes": 2, "title": 2])
          if kind != .memory { try #require(try subject.afterCrash() == ["likes": 1, "title": 2]) }
          gate.open()
          _ = await edit.result
          let end: Fields = ["likes": fails ? 1 : 2, "title": 2]
          try #require(subject.valuesFromBothTiers("k") == [end, end])
          if kind != .memory { try #require(try subject.afterCrash() == end) }
          try #require(subject.findings == [])
        }
      }
    }
  }

  @Test func `a value that is evicted during its own edit is inserted again`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      var settings: Store.Configuration = .ignoringMemoryPressure
      settings.taskExecutor = executor
      let store = try Store(secondTier: nil, memoryLimit: .mebibytes(1), configuration: settings)
      let cache = try store.cache(
        "fields", of: Fields.self, keyedBy: String.self, configuration: CacheConfiguration(countLimit: 1))
      cache["k"] = ["base": 1]
      let audit = FieldsAudit(base: ["k": ["base": 1]])
      let token = cache.observe { audit.take($0) }
      try await cache.editValue(forKey: "k") { value in
        // The user's code can need space, and can therefore cause evictions.
        if cache["k"] != nil, value?["edited"] == nil { cache["other"] = ["v": 1] }
        return value?.merging(["edited": 1]) { $1 }
      } confirmedBy: {
        nil
      }
      for _ in 0..<50 { await Task.yield() }
      try #require(audit.findings == [])
      try #require(audit.values["k"] == ["base": 1, "edited": 1] && cache["k"] == ["base": 1, "edited": 1])
      token.cancel()
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a confirmed edit does not keep the content of an expired value`(kind: FieldsSubject.Kind) throws {
    for answer in [nil, ["server": 1]] as [Fields?] {
      for merges in [true, false] {
        try SeededExecutor.run(seed: 0) { executor in
          let configuration = merges ? CacheConfiguration<Fields>(merge: mergeFields) : CacheConfiguration()
          let subject = try FieldsSubject(kind, on: executor, configuration: configuration)
          let cache = subject.cache
          cache.setValue(["base": 1], forKey: "k", expiry: .after(.seconds(10)))
          let gate = Gate()
          let edits = ["first", "second"].map { subject.edit($0, gate: gate, answer: answer) }
          await gate.arrivals(atLeast: 2)
          subject.clock.advance(by: .seconds(11))
          try #require(cache["k"] == ["base": 1, "first": 1, "second": 1])
          gate.open()
          for edit in edits { _ = try await edit.value }
          try #require(cache["k"]?["base"] == nil)
          if case nil = answer { try #require(cache["k"] == ["first": 1, "second": 1]) }
          try #require(subject.valuesFromBothTiers("k").allSatisfy { $0?["base"] == nil })
          if kind != .memory { try #require(try subject.afterCrash()?["base"] == nil) }
          try #require(subject.findings == [])
        }
      }
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases, [11, 61])
  func `a pending edit is shown as a fresh value after the lifetime and the grace of the confirmed one`(
    kind: FieldsSubject.Kind, seconds: Int
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache.setValue(["base": 1], forKey: "k", expiry: .after(.seconds(10), graceStale: .seconds(50)))
      let (edit, gate) = await subject.beginEdit("edited")
      subject.clock.advance(by: .seconds(seconds))
      let loaded = try await cache.loadedValue(forKey: "k", policy: .freshOnly) { _ in ["fetched": 1] }
      try #require(loaded.value == ["base": 1, "edited": 1] && !loaded.isStale)
      gate.open()
      try #require(try await edit.value == (seconds == 11 ? ["base": 1, "edited": 1] : ["edited": 1]))
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `observers receive the expiry of an edited value when its edit is confirmed`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      cache.setValue(["base": 1], forKey: "k", expiry: .after(.seconds(10)))
      let removals = Recorder<RemovalCause>()
      let token = cache.observe { if case .removed(_, let cause) = $0.event { removals.record(cause) } }
      let gate = Gate()
      let edit = subject.task {
        try await cache.editValue(forKey: "k") {
          $0?.merging(["edited": 1]) { $1 }
        } confirmedBy: {
          await gate.passUncancelled()
          return nil
        }
      }
      await gate.arrivals(atLeast: 1)
      subject.clock.advance(by: .seconds(11))
      gate.open()
      try #require(try await edit.value == nil)
      try #require(subject.valuesFromBothTiers("k") == [nil, nil])
      for _ in 0..<50 { await Task.yield() }
      try #require(removals.elements == [.expired])
      token.cancel()
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a removal by predicate also removes edited keys that memory does not hold`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(plain: kind, on: executor)
      let cache = subject.cache
      let gate = Gate()
      // The edit has no confirmed value, so no tier has the key.
      let edit = subject.edit("edited", gate: gate)
      await gate.arrivals(atLeast: 1)
      cache.trim(toCost: 0)
      try #require(cache["k"] == ["edited": 1])
      try #require(cache.removeAll { _ in true } == 1)
      try #require(cache["k"] == nil)
      gate.open()
      try #require(try await edit.value == nil)
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a confirmed edit that removes its key counts as a removal`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let cache = try FieldsSubject(plain: kind, on: executor).cache
      cache["k"] = ["base": 1]
      let before = cache.statistics
      try await cache.editValue(forKey: "k") { _ in
        nil
      } confirmedBy: {
        nil
      }
      try #require(cache["k"] == nil)
      try #require(cache.statistics.stores == before.stores && cache.statistics.removals == before.removals + 1)
      // The removal of an absent key is not counted.
      try await cache.editValue(forKey: "k") { _ in
        nil
      } confirmedBy: {
        nil
      }
      try #require(cache.statistics.stores == before.stores && cache.statistics.removals == before.removals + 1)
      try await cache.editValue(forKey: "k") { _ in
        ["v": 1]
      } confirmedBy: {
        nil
      }
      try #require(cache.statistics.stores == before.stores + 1 && cache.statistics.removals == before.removals + 1)
    }
  }

  /// The ways in which the second tier stops holding the value below an edit.
  enum CopyLoss: CaseIterable, Sendable {
    case eviction, close
  }

  @Test(arguments: CopyLoss.allCases, [true, false])
  func `a copy that leaves memory under a pending edit is no removal`(loss: CopyLoss, fails: Bool) throws {
    try SeededSchedule.explore(seeds: 40) { executor in
      let tier = FaultInjectingTier(losses: .onDemand, taskExecutor: executor)
      let subject = try Subject(.twoTiers, on: executor, tier: tier)
      let cache = subject.cache
      cache["a"] = 1
      let changes = Recorder<String>()
      let token = cache.observe { changes.record("\($0.event)") }
      defer { token.cancel() }
      let gate = Gate()
      let edit = Task(executorPreference: executor) {
        try await cache.editValue(forKey: "a") { _ in
          2
        } confirmedBy: {
          await gate.passUncancelled()
          if fails { throw Broken() }
          return nil
        }
      }
      await gate.arrivals(atLeast: 1)
      switch loss {
      case .eviction:
        try #require(tier.evict("a", from: Subject.partition))
        tier.deliverLosses()
      case .close: try await tier.close()
      }
      cache.trim(toCost: 0)
      try #require(cache["a"] == 2)
      gate.open()
      _ = await edit.result
      try #require(cache["a"] == (fails ? 1 : 2))
      cache["last"] = 0
      while changes.elements.last != "inserted(\"last\", 0)" { await Task.yield() }
      // Observers receive the changes of the edit and of its end, and no other.
      let expected = ["updated(\"a\", 2)"] + (fails ? ["updated(\"a\", 1)"] : []) + ["inserted(\"last\", 0)"]
      try #require(changes.elements == expected)
    }
  }

  /// The call after an edit over a record whose loss the tier has not reported.
  enum AfterEdit: CaseIterable, Sendable { case nothing, set, removal, promotion }

  @Test(arguments: AfterEdit.allCases, [2, nil])
  func `an edit over a record that is lost leaves one removal for observers`(next: AfterEdit, shown: Int?) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(losses: .onDemand, taskExecutor: executor)
      let subject = try Subject(.twoTiers, on: executor, tier: tier)
      let cache = subject.cache
      let changes = Recorder<String>()
      let token = cache.observe { changes.record("\($0.event)") }
      defer { token.cancel() }
      cache["a"] = 1
      cache.trim(toCost: 0)
      try #require(tier.evict("a", from: Subject.partition))
      _ = await Task(executorPreference: executor) {
        try await cache.editValue(forKey: "a") { _ in
          shown
        } confirmedBy: {
          throw Broken()
        }
      }.result
      var expected = ["inserted(\"a\", 1)"]
      if shown != nil { expected.append("updated(\"a\", 2)") }
      expected.append("removed(\"a\", CisternCore.RemovalCause.explicit)")
      switch next {
      case .nothing: break
      case .set:
        cache["a"] = 3
        expected.append("inserted(\"a\", 3)")
      case .removal: cache["a"] = nil
      case .promotion: try #require(cache["a"] == nil)
      }
      tier.deliverLosses()
      try #require(cache["a"] == (next == .set ? 3 : nil))
      cache["last"] = 0
      while changes.elements.last != "inserted(\"last\", 0)" { await Task.yield() }
      try #require(changes.elements == expected + ["inserted(\"last\", 0)"])
      try #require(subject.findings == [])
    }
  }
}
