import CisternCore
import CisternTesting
import CisternTestSupport
import Synchronization
import Testing

/// Drafts over several caches of a store.
struct StoreDraftTests {
  @Test(arguments: TwoCaches.commits)
  func `a draft over several caches saves all writes as one batch, or drops them`(
    commits: FaultInjectingTier.CommitMode?
  ) throws {
    try TwoCaches.run(commits) { caches, fields, numbers in
      caches.storeValues()
      let draft = caches.store.draft()
      try #require(draft.isEmpty && draft["a", in: fields] == ["v": 1] && draft.value(forKey: 1, in: numbers) == 1)
      draft["a", in: fields]?["v"] = 2
      draft[1, in: numbers] = nil
      draft.setValue(2, forKey: 2, in: numbers)
      try #require(draft["a", in: fields] == ["v": 2] && draft[1, in: numbers] == nil && draft[2, in: numbers] == 2)
      try #require(fields["a"] == ["v": 1] && numbers[1] == 1 && numbers[2] == nil)
      try #require(draft.writtenKeys(in: numbers) == [1, 2] && draft.writtenKeys(in: fields) == ["a"])
      let sets = Recorder<ChangeSet<Int, Int>>()
      let token = numbers.observeChangeSets { sets.record($0) }
      try draft.save()
      try #require(fields["a"] == ["v": 2] && numbers[1] == nil && numbers[2] == 2 && draft.isEmpty)
      while sets.count < 1 { await Task.yield() }
      try #require(sets.elements[0].inserted == [2: 2] && sets.elements[0].removed == [1: .explicit])
      // The write kept the tags of the value below.
      caches.store.removeAll(tagged: "news")
      try #require(fields["a"] == nil)
      draft[2, in: numbers] = 3
      draft.removeValue(forKey: "a", in: fields)
      draft.discard()
      try draft.save()
      try #require(draft.isEmpty && numbers[2] == 2)
      token.cancel()
    }
  }

  @Test(arguments: TwoCaches.commits)
  func `a conflict in one cache saves nothing, and each cache can have a policy`(
    commits: FaultInjectingTier.CommitMode?
  ) throws {
    try TwoCaches.run(commits) { caches, fields, numbers in
      fields["a"] = ["v": 1]
      numbers[1] = 1
      let draft = caches.store.draft()
      draft["a", in: fields]?["mine"] = 1
      draft[1, in: numbers] = 2
      fields["a"]?["theirs"] = 1
      try #require(draft.conflicts(in: fields) == ["a"] && draft.conflicts(in: numbers) == [])
      let error = #expect(throws: CisternError.self) { try draft.save() }
      let cause = try #require(error?.cause as? StoreDraftConflictError)
      try #require(error?.code == .conflict && cause.cacheNames == ["fields"])
      try #require(cause.keys(in: fields) == ["a"] && cause.keys(in: numbers) == [])
      try #require(numbers[1] == 1 && !draft.isEmpty)
      numbers[1] = 5
      try draft.save(onConflict: caches.mergingFields)
      try #require(fields["a"] == ["v": 1, "theirs": 1, "mine": 1] && numbers[1] == 5 && draft.isEmpty)
      // The draft's own save is no conflict for its later writes.
      draft[1, in: numbers] = 6
      try draft.save()
      draft[1, in: numbers] = 7
      numbers[1] = 8
      try draft.save(onConflict: .mine)
      try #require(numbers[1] == 7)
    }
  }

  @Test func `a key that changes during a save is a conflict that saves nothing`() throws {
    try TwoCaches.run(.immediate) { caches, fields, numbers in
      let draft = caches.store.draft()
      fields["a"] = ["v": 1]
      draft["a", in: fields]?["v"] = 2
      draft[1, in: numbers] = 1
      fields["a"] = ["v": 3]
      let error = #expect(throws: CisternError.self) {
        try draft.save(
          onConflict: .throw.resolving(
            fields,
            by: .merge { conflict in
              // The key of the other cache changes after the check.
              numbers[1] = 5
              return conflict.mine
            }))
      }
      try #require(error?.cause is StoreDraftConflictError && numbers[1] == 5 && fields["a"] == ["v": 3])
      try draft.save(onConflict: .mine)
      try #require(numbers[1] == 1 && fields["a"] == ["v": 2])
      draft.discard()
      try #require(fields.checkInvariants() + numbers.checkInvariants() == [])
    }
  }

  @Test func `a draft over several caches watches no key after its end`() throws {
    try TwoCaches.run(.immediate) { caches, fields, numbers in
      do {
        let draft = caches.store.draft()
        draft["a", in: fields] = ["v": 1]
        _ = draft[1, in: numbers]
        let child = draft.draft(of: numbers)
        child[2] = 2
        try child.save()
        try #require(draft[2, in: numbers] == 2 && numbers[2] == nil)
        try draft.save()
        try #require(numbers[2] == 2)
        draft[3, in: numbers] = 3
      }
      try #require(caches.findings == [] && numbers[3] == nil)
    }
  }

  @Test func `a draft that cannot be saved keeps its writes`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(commits: .onDemand, taskExecutor: executor)
      let caches = try TwoCaches(over: tier, on: executor)
      let foreign = try TwoCaches(.immediate, on: executor)
      let draft = caches.store.draft()
      draft["a", in: caches.fields] = ["v": 1]
      let mixed = caches.store.draft()
      mixed["a", in: caches.fields] = ["v": 2]
      mixed[1, in: foreign.numbers] = 1
      let error = #expect(throws: CisternError.self) { try mixed.save() }
      try #require(error?.code == .invalidArgument && caches.fields["a"] == nil && foreign.numbers[1] == nil)
      let commit = Task(executorPreference: executor) { try await draft.commit() }
      while caches.fields["a"] == nil { await Task.yield() }
      tier.commit()
      try await commit.value
      try #require(try TwoCaches(over: tier.reopenedAfterCrash(), on: executor).fields["a"] == ["v": 1])
      draft[1, in: caches.numbers] = 1
      try await caches.store.close()
      let closed = #expect(throws: CisternError.self) { try draft.save() }
      try #require(closed?.code == .storeClosed && !draft.isEmpty && caches.numbers[1] == nil)
    }
  }

  @Test(arguments: TwoCaches.commits)
  func `concurrent drafts over several caches lose no field`(commits: FaultInjectingTier.CommitMode?) throws {
    try TwoCaches.explore(commits) { caches, executor in
      let (fields, numbers) = (caches.fields, caches.numbers)
      let tasks = (0..<3).map { number in
        Task(executorPreference: executor) {
          let draft = caches.store.draft()
          draft["a", in: fields] = (draft["a", in: fields] ?? [:]).merging(["\(number)": 1]) { $1 }
          draft[1, in: numbers] = (draft[1, in: numbers] ?? 0) + 1
          for _ in 0..<executor.seed % 3 { await Task.yield() }
          while true {
            let saved = Result { () throws(CisternError) in try draft.save() }
            guard case .failure(let error) = saved else { return }
            if error.code != .conflict { throw error }
            draft.discard()
            draft["a", in: fields] = (draft["a", in: fields] ?? [:]).merging(["\(number)": 1]) { $1 }
            draft[1, in: numbers] = (draft[1, in: numbers] ?? 0) + 1
            await Task.yield()
          }
        }
      }
      for task in tasks { try await task.value }
      try #require(fields["a"] == ["0": 1, "1": 1, "2": 1] && numbers[1] == 3)
      try #require(caches.findings == [])
    }
  }
}
