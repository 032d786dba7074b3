import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// Drafts of drafts over several caches.
struct NestedStoreDraftTests {
  @Test(arguments: TwoCaches.commits)
  func `a nested draft saves all writes into the draft below, and the outermost one into the caches`(
    commits: FaultInjectingTier.CommitMode?
  ) throws {
    try TwoCaches.run(commits) { caches, fields, numbers in
      caches.storeValues()
      let outer = caches.store.draft()
      outer[2, in: numbers] = 20
      let (middle, other) = (outer.draft(), outer.draft())
      let inner = middle.draft()
      try #require(inner[2, in: numbers] == 20 && inner["a", in: fields] == ["v": 1])
      inner["a", in: fields]?["v"] = 2
      inner[1, in: numbers] = nil
      inner[3, in: numbers] = 30
      try #require(middle[1, in: numbers] == 1 && inner[1, in: numbers] == nil)
      try inner.save()
      try #require(inner.isEmpty && middle[1, in: numbers] == nil && middle["a", in: fields] == ["v": 2])
      try #require(outer[1, in: numbers] == 1 && other[3, in: numbers] == nil)
      try middle.save()
      try #require(outer.writtenKeys(in: numbers) == [2, 1, 3] && other[3, in: numbers] == 30)
      try #require(numbers[1] == 1 && numbers[3] == nil && fields["a"] == ["v": 1])
      let dropped = outer.draft()
      dropped[4, in: numbers] = 40
      dropped.discard()
      try dropped.save()
      try outer.save()
      try #require(numbers[1] == nil && numbers[2] == 20 && numbers[3] == 30 && numbers[4] == nil)
      try #require(fields["a"] == ["v": 2])
      // The writes kept the tags of the value below.
      caches.store.removeAll(tagged: "news")
      try #require(fields["a"] == nil)
    }
  }

  @Test(arguments: TwoCaches.commits)
  func `a conflict in one cache saves nothing into the draft below`(commits: FaultInjectingTier.CommitMode?) throws {
    try TwoCaches.run(commits) { caches, fields, numbers in
      fields["a"] = ["v": 1]
      let outer = caches.store.draft()
      let inner = outer.draft()
      inner["a", in: fields]?["mine"] = 1
      inner[1, in: numbers] = 2
      outer["a", in: fields]?["theirs"] = 1
      try #require(inner.conflicts(in: fields) == ["a"] && inner.conflicts(in: numbers) == [])
      let error = #expect(throws: CisternError.self) { try inner.save() }
      let cause = try #require(error?.cause as? StoreDraftConflictError)
      try #require(cause.cacheNames == ["fields"] && cause.keys(in: fields) == ["a"])
      try #require(outer[1, in: numbers] == nil && !inner.isEmpty)
      outer[1, in: numbers] = 5
      try inner.save(onConflict: caches.mergingFields)
      try #require(outer["a", in: fields] == ["v": 1, "theirs": 1, "mine": 1] && outer[1, in: numbers] == 5)
      inner[1, in: numbers] = 6
      try inner.save()
      try outer.save()
      try #require(numbers[1] == 6 && fields["a"] == ["v": 1, "theirs": 1, "mine": 1])
    }
  }

  @Test func `a key that is written below during a save is a conflict that saves nothing`() throws {
    try TwoCaches.run(.immediate) { caches, fields, numbers in
      let outer = caches.store.draft()
      let inner = outer.draft()
      outer["a", in: fields] = ["v": 1]
      inner["a", in: fields]?["v"] = 2
      inner[1, in: numbers] = 1
      outer["a", in: fields] = ["v": 3]
      let error = #expect(throws: CisternError.self) {
        try inner.save(
          onConflict: .throw.resolving(
            fields,
            by: .merge { conflict in
              // The key of the other cache is written after the check.
              outer[1, in: numbers] = 5
              return conflict.mine
            }))
      }
      try #require(error?.cause is StoreDraftConflictError)
      try #require(outer[1, in: numbers] == 5 && outer["a", in: fields] == ["v": 3])
      try inner.save(onConflict: .mine)
      try #require(outer[1, in: numbers] == 1 && outer["a", in: fields] == ["v": 2])
    }
  }

  @Test func `a key that is written below after it was compared makes the save begin again in all caches`() throws {
    try TwoCaches.run(.immediate) { caches, fields, numbers in
      let outer = caches.store.draft()
      let inner = outer.draft()
      inner["a", in: fields] = ["v": 1]
      inner[1, in: numbers] = 1
      inner[2, in: numbers] = 2
      outer[2, in: numbers] = 20
      let overtaking = Recorder<Int>()
      try inner.save(
        onConflict: .throw.resolving(
          numbers,
          by: .merge { conflict in
            if overtaking.count == 0 {
              overtaking.record(conflict.key)
              outer[1, in: numbers] = 10
            }
            return (conflict.theirs ?? 0) + (conflict.mine ?? 0)
          }))
      try #require(overtaking.elements == [2] && inner.isEmpty)
      try #require(outer["a", in: fields] == ["v": 1] && outer[1, in: numbers] == 11 && outer[2, in: numbers] == 22)
    }
  }

  @Test(arguments: TwoCaches.commits, [true, false])
  func `a save of the draft below is no conflict of an open nested draft, but another writer's change is`(
    commits: FaultInjectingTier.CommitMode?, isOvertaken: Bool
  ) throws {
    try TwoCaches.run(commits) { caches, fields, numbers in
      let outer = caches.store.draft()
      let inner = outer.draft()
      outer["a", in: fields] = ["outer": 1]
      outer[2, in: numbers] = 2
      try #require(inner["a", in: fields] == ["outer": 1] && inner[1, in: numbers] == nil)
      try outer.save()
      try #require(fields["a"] == ["outer": 1] && numbers[2] == 2)
      if isOvertaken { numbers[1] = 9 }
      inner["a", in: fields] = ["inner": 1]
      inner[1, in: numbers] = 1
      try inner.save()
      try #require(outer.conflicts(in: numbers) == (isOvertaken ? [1] : []) && outer.conflicts(in: fields) == [])
      if isOvertaken {
        let error = #expect(throws: CisternError.self) { try outer.save() }
        try #require(error?.code == .conflict && numbers[1] == 9 && fields["a"] == ["outer": 1])
        outer.discard()
      } else {
        try outer.save()
        try #require(numbers[1] == 1 && fields["a"] == ["inner": 1])
      }
      inner.discard()
    }
  }

  @Test func `drafts over several caches watch no key after a save, although they only read a cache`() throws {
    try TwoCaches.run(.immediate) { caches, fields, numbers in
      let outer = caches.store.draft()
      let inner = outer.draft()
      for draft in [outer, inner] {
        for isWritten in [false, true] {
          _ = draft[1, in: numbers]
          if isWritten { draft["a", in: fields] = ["v": 1] } else { _ = draft["a", in: fields] }
          try draft.save()
          try outer.save()
          try #require(caches.findings == [])
        }
      }
      try #require(fields["a"] == ["v": 1])
    }
  }

  @Test func `nested drafts watch no key after their end`() throws {
    try TwoCaches.run(.immediate) { caches, fields, numbers in
      do {
        let outer = caches.store.draft()
        do {
          let inner = outer.draft()
          _ = inner[1, in: numbers]
          inner["a", in: fields] = ["v": 1]
          try inner.save()
          _ = inner[2, in: numbers]
        }
        try outer.save()
        try #require(caches.findings == [] && fields["a"] == ["v": 1])
      }
      try #require(caches.findings == [])
    }
  }

  @Test(arguments: TwoCaches.commits)
  func `concurrent nested drafts that increment counts and retry on conflict lose no increment`(
    commits: FaultInjectingTier.CommitMode?
  ) throws {
    try TwoCaches.explore(commits) { caches, executor in
      let (fields, numbers) = (caches.fields, caches.numbers)
      let outer = caches.store.draft()
      let tasks = (0..<3).map { _ in
        Task(executorPreference: executor) {
          let inner = outer.draft()
          while true {
            inner["a", in: fields] = ["v": (inner["a", in: fields]?["v"] ?? 0) + 1]
            await Task.yield()
            inner[1, in: numbers] = (inner[1, in: numbers] ?? 0) + 1
            await Task.yield()
            let saved = Result { () throws(CisternError) in try inner.save() }
            guard case .failure(let error) = saved else { return }
            if error.code != .conflict { throw error }
            inner.discard()
          }
        }
      }
      let saver = Task(executorPreference: executor) {
        for _ in 0..<3 {
          await Task.yield()
          try outer.save()
          try #require((fields["a"]?["v"] ?? 0) == (numbers[1] ?? 0))
        }
      }
      for task in tasks { try await task.value }
      try await saver.value
      try outer.save()
      try #require(fields["a"] == ["v": 3] && numbers[1] == 3)
    }
  }
}
