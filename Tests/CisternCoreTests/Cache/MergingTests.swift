import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Partial values: every write and load merges its value with the cached one.
struct MergingTests {
  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a set value is merged with the value of either tier`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      subject.cache["k"] = ["a": 1, "b": 1]
      subject.cache["k"] = ["b": 2]
      if kind != .memory { subject.cache.trim(toCost: 0) }
      subject.cache["k"] = ["c": 3]
      try #require(subject.valuesFromBothTiers("k") == [["a": 1, "b": 2, "c": 3], ["a": 1, "b": 2, "c": 3]])
      subject.cache["k"] = nil
      subject.cache["k"] = ["d": 4]
      try #require(subject.valuesFromBothTiers("k") == [["d": 4], ["d": 4]])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `concurrent sets and loads of partial values lose no field`(kind: FieldsSubject.Kind) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let load = subject.task {
        try await cache.value(forKey: "k") { _ in
          await Task.yield()
          return ["loaded": 1, "both": 1]
        }
      }
      let bulk = subject.task {
        try await cache.values(forKeys: ["k", "other"]) { keys in
          await Task.yield()
          return Dictionary(uniqueKeysWithValues: keys.map { ($0, ["bulk": 1, "both": 1]) })
        }
      }
      let sets = (0..<3).map { number in
        subject.task {
          await Task.yield()
          cache["k"] = ["set\(number)": 1, "both": 2]
        }
      }
      let trim = subject.task {
        await Task.yield()
        if kind != .memory { cache.trim(toCost: 0) }
        subject.tier?.commit(1)
      }
      let (loaded, bulkLoaded) = try await (load.value, bulk.value.values["k"])
      try await trim.value
      for set in sets { try await set.value }
      while cache.statistics.inProgressCount > 0 { await Task.yield() }
      for value in subject.valuesFromBothTiers("k") {
        let value = try #require(value)
        for number in 0..<3 { try #require(value["set\(number)"] == 1) }
        // One of the two loads fetched, or neither needed to. A fetch that began before a set does not replace the
        // set value.
        let isFetched = loaded["loaded"] == 1 || bulkLoaded?["bulk"] == 1
        try #require(!isFetched || value["loaded"] == 1 || value["bulk"] == 1)
      }
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a value fetched before a set is merged under it, and all waiters get the merged value`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let gate = Gate()
      let loads = (0..<2).map { _ in
        subject.task {
          try await subject.cache.value(forKey: "k") { _ in
            try await gate.pass()
            return ["title": 1, "text": 1]
          }
        }
      }
      await gate.arrivals(atLeast: 1)
      subject.cache["k"] = ["title": 2]
      gate.open()
      for load in loads { try #require(try await load.value == ["title": 2, "text": 1]) }
      try #require(subject.cache["k"] == ["title": 2, "text": 1])
      try #require(subject.findings == [])
    }
  }

  enum Ending: CaseIterable, Sendable { case removal, clear, removalAndSet }

  @Test(arguments: FieldsSubject.Kind.allCases, Ending.allCases)
  func `a value that was fetched before a removal is not merged into what was set after it`(
    kind: FieldsSubject.Kind, ending: Ending
  ) throws {
    try SeededSchedule.explore(seeds: 60) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let cache = subject.cache
      let gate = Gate()
      let load = subject.task {
        try await cache.value(forKey: "k") { _ in
          await gate.passUncancelled()
          return ["old": 1]
        }
      }
      await gate.arrivals(atLeast: 1)
      if executor.seed % 2 == 0 { cache["k"] = ["older": 1] }
      switch ending {
      case .removal: cache["k"] = nil
      case .clear: cache.removeAll()
      case .removalAndSet:
        cache["k"] = nil
        cache["k"] = ["new": 1]
      }
      gate.open()
      try #require(try await load.value == ["old": 1])
      let left: Fields? = ending == .removalAndSet ? ["new": 1] : nil
      try #require(subject.valuesFromBothTiers("k") == [left, left])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a fetch whose callers have all left merges nothing`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let gate = Gate()
      let load = subject.task {
        try await subject.cache.value(forKey: "k") { _ in
          await gate.passUncancelled()
          return ["late": 1]
        }
      }
      await gate.arrivals(atLeast: 1)
      subject.cache["k"] = ["set": 1]
      load.cancel()
      _ = await load.result
      gate.open()
      for _ in 0..<50 { await Task.yield() }
      try #require(subject.cache["k"] == ["set": 1])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a merge that throws affects only its value, is reported, and keeps the cached value`(
    kind: FieldsSubject.Kind
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      subject.cache["k"] = ["a": 1]
      subject.cache["other"] = ["a": 1]
      subject.cache["k"] = unmergeable
      try #require(subject.cache["k"] == ["a": 1])
      let commit = await #expect(throws: CisternError.self) {
        try await subject.cache.commitValue(unmergeable, forKey: "k")
      }
      try #require(commit?.code == .notMerged)
      try #require(subject.store.reports.map(\.code) == [.notMerged, .notMerged])
      subject.cache["other"] = ["b": 2]
      try #require(subject.cache["other"] == ["a": 1, "b": 2])

      // A load fails if its value cannot be merged with one that was set during the fetch. The set value stays.
      let gate = Gate()
      let load = subject.task {
        try await subject.cache.value(forKey: "new") { _ in
          try await gate.pass()
          return unmergeable
        }
      }
      await gate.arrivals(atLeast: 1)
      subject.cache["new"] = ["set": 1]
      gate.open()
      let failure = await #expect(throws: CisternError.self) { try await load.value }
      try #require(failure?.code == .notMerged)
      try #require(subject.valuesFromBothTiers("new") == [["set": 1], ["set": 1]])
      try #require(subject.findings == [])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `an expired value is not merged`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor, expiry: .after(.seconds(10)))
      subject.cache["k"] = ["old": 1]
      subject.clock.advance(by: .seconds(11))
      subject.cache["k"] = ["new": 1]
      try #require(subject.valuesFromBothTiers("k") == [["new": 1], ["new": 1]])
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a write is merged with a stale value in grace, and so is its refresh`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let expiry = Expiry.after(.seconds(10), graceStale: .seconds(10))
      let subject = try FieldsSubject(kind, on: executor, expiry: expiry)
      subject.cache["set"] = ["old": 1]
      subject.cache["loaded"] = ["old": 1]
      subject.clock.advance(by: .seconds(11))
      subject.cache["set"] = ["new": 1]
      try #require(subject.valuesFromBothTiers("set") == [["old": 1, "new": 1], ["old": 1, "new": 1]])
      let stale = try await subject.cache.value(forKey: "loaded") { _ in ["new": 1] }
      try #require(stale == ["old": 1])
      while subject.cache["loaded"] == nil { await Task.yield() }
      try #require(subject.cache["loaded"] == ["old": 1, "new": 1])
      try #require(subject.findings == [])
    }
  }

  @Test func `a merge may use the cache, even if keys share a write version`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let reference = Recorder<Cache<String, Fields>>()
      let subject = try FieldsSubject(
        .twoTiers, on: executor,
        configuration: CacheConfiguration(merge: { cached, incoming in
          if let cache = reference.elements.first {
            _ = cache["k"]
            for number in 0..<300 {
              cache.removeValue(forKey: "other \(number)")
              if cached["depth"] == nil { cache["deep \(number % 3)"] = ["depth": 1] }
            }
          }
          return try mergeFields(cached, incoming)
        }))
      reference.record(subject.cache)
      subject.cache["k"] = ["a": 1]
      subject.cache["k"] = ["b": 1]
      try #require(subject.cache["k"] == ["a": 1, "b": 1])
      _ = reference.removeAll()
    }
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `observers get the merged value, and no change if the value stays equal`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(
        kind, on: executor, configuration: CacheConfiguration(merge: mergeFields, isEqual: ==))
      let changes = Recorder<Change<String, Fields>>()
      let token = subject.cache.observe { changes.record($0) }
      subject.cache["k"] = ["a": 1]
      subject.cache["k"] = ["a": 1]
      subject.cache["k"] = ["b": 1]
      if kind != .memory { subject.cache.trim(toCost: 0) }
      subject.cache["k"] = ["a": 1, "b": 1]
      subject.cache["k"] = nil
      for _ in 0..<50 { await Task.yield() }
      let seen = changes.elements.map { "\($0.event)" }
      try #require(seen.count == 3, "\(seen)")
      try #require(changes.elements[0].value == ["a": 1])
      try #require(changes.elements[1].value == ["a": 1, "b": 1])
      try #require(changes.elements[2].value == nil)
      token.cancel()
    }
  }

  @Test func `without merging, equal values are not announced, and a late fetch is dropped`() throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try FieldsSubject(.twoTiers, on: executor, configuration: CacheConfiguration(isEqual: ==))
      let gate = Gate()
      let load = subject.task {
        try await subject.cache.value(forKey: "k") { _ in
          try await gate.pass()
          return ["old": 1]
        }
      }
      await gate.arrivals(atLeast: 1)
      subject.cache["k"] = ["new": 1]
      gate.open()
      try #require(try await load.value == ["old": 1])
      try #require(subject.cache["k"] == ["new": 1])
      try #require(subject.findings == [])
    }
  }

  @Test func `JSON in bytes is merged field by field`() throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1), configuration: .ignoringMemoryPressure)
    let documents = try store.cache(
      "documents", of: [UInt8].self, keyedBy: String.self,
      configuration: CacheConfiguration(merge: JSONMergePatch.merge))
    documents["d"] = Array(#"{"a":1,"b":{"c":2}}"#.utf8)
    documents["d"] = Array(#"{"b":{"d":3},"a":null}"#.utf8)
    #expect(documents["d"] == Array(#"{"b":{"c":2,"d":3}}"#.utf8))
    documents["d"] = Array("{".utf8)
    #expect(documents["d"] == Array(#"{"b":{"c":2,"d":3}}"#.utf8))
    #expect(store.reports.map(\.code) == [.notMerged])
  }
}
