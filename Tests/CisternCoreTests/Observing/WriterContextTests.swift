import CisternCore
import CisternTestSupport
import CisternTesting
import Testing

/// The contexts with which writers name their changes.
struct WriterContextTests {
  @Test func `a context equals its copies, and contexts of equal tokens are equal`() {
    let mine = WriterContext()
    #expect(mine == mine && mine != WriterContext())
    #expect(WriterContext("view") == WriterContext("view") && WriterContext("view") != WriterContext("list"))
    #expect(WriterContext(1) != WriterContext("1") && WriterContext(1) != WriterContext())
    #expect(Set([mine, mine, WriterContext("a"), WriterContext("a")]).count == 2)
  }

  @Test(arguments: FieldsSubject.Kind.allCases)
  func `a change carries the context of its write`(kind: FieldsSubject.Kind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try FieldsSubject(kind, on: executor)
      let (mine, yours) = (WriterContext(), WriterContext("yours"))
      let changes = Recorder<WriterContext?>()
      let token = subject.cache.observe { changes.record($0.context) }
      subject.cache.setValue(["a": 1], forKey: "k", context: mine)
      subject.cache["k"] = ["b": 1]
      subject.cache.removeValue(forKey: "k", context: yours)
      _ = try await subject.cache.value(forKey: "k") { _ in ["c": 1] }
      let commit = subject.task { try await subject.cache.commitValue(["d": 1], forKey: "k", context: mine) }
      while subject.cache["k"]?["d"] == nil { await Task.yield() }
      subject.tier?.commit()
      try await commit.value
      let removal = subject.task { try await subject.cache.commitRemoval(forKey: "k", context: yours) }
      while subject.cache["k"] != nil { await Task.yield() }
      subject.tier?.commit()
      try await removal.value
      for _ in 0..<50 { await Task.yield() }
      try #require(changes.elements == [mine, nil, yours, nil, mine, yours])
      token.cancel()
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a removal of all keys has the context of its writer`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try Subject(kind, on: executor)
      let contexts = Recorder<WriterContext?>()
      let token = subject.cache.observe { contexts.record($0.context) }
      defer { token.cancel() }
      let writer = WriterContext("sync")
      subject.cache["a"] = 1
      subject.cache.removeAll(context: writer)
      subject.cache["a"] = 2
      let removal = Task(executorPreference: executor) { try await subject.cache.commitRemovalOfAll(context: writer) }
      if kind == .staging {
        while subject.cache["a"] != nil { await Task.yield() }
        try await subject.tier?.flush()
      }
      try await removal.value
      while contexts.elements.count < 4 { await Task.yield() }
      try #require(contexts.elements == [nil, writer, nil, writer])
      try #require(try kind == .memory || subject.reopened(after: true).cache["a"] == nil)
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a set that blocks no thread stores its value with the context of its writer`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 1) { executor in
      let subject = try Subject(kind, on: executor)
      let contexts = Recorder<WriterContext?>()
      let token = subject.cache.observe { contexts.record($0.context) }
      defer { token.cancel() }
      let writer = WriterContext("sync")
      await subject.cache.setValueWithoutBlocking(1, forKey: "a", context: writer)
      try #require(subject.cache["a"] == 1)
      while contexts.elements.isEmpty { await Task.yield() }
      try #require(contexts.elements == [writer])
    }
  }
}
