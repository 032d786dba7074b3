import Cistern
import CisternTesting
import Testing

/// The examples of "Observing".
@Suite struct ObservingSnippets: Examples {
  @Test func `a sequence of one key's changes`() async throws {
    let articles = try sampleArticles()
    let looking = Task {
      for await change in articles.updates(forKey: id) {
        if let article = change.value { print("now: \(article.title)") }
      }
    }
    looking.cancel()
    await looking.value
  }

  @Test func `a bounded sequence of a prefix`() async throws {
    let articles = try sampleArticles()
    let looking = Task {
      let updates = articles.updates(.prefix("news/"), buffering: .bounded(100))
      for await change in updates {
        print("\(change.number): \(change.event)")
      }
    }
    looking.cancel()
    await looking.value
  }

  @Test func `the contents of a prefix`() async throws {
    let articles = try sampleArticles()
    articles["news/1"] = edited
    let looking = Task {
      var news: [String: Article] = [:]
      for await update in articles.contentUpdates(.prefix("news/")) {
        update.apply(to: &news)
        if case .initialEnded = update { print("\(news.count) articles") }
      }
    }
    looking.cancel()
    await looking.value
  }

  @Test func `the value as it is, and later ones`() async throws {
    let articles = try sampleArticles()
    articles[id] = draft
    let titles = Recorder<String>()
    let (hasBegun, hasEnded) = (Gate(), Gate())
    @Sendable func print(_ title: String) {
      titles.record(title)
      if title == draft.title { hasBegun.open() }
      if title == "none" { hasEnded.open() }
    }
    let looking = Task {
      for await article in articles.valueUpdates(forKey: id) {
        print(article?.title ?? "none")
      }
    }
    await hasBegun.passUncancelled()
    articles[id] = edited
    articles[id] = nil
    await hasEnded.passUncancelled()
    #expect(titles.elements == [draft.title, edited.title, "none"])
    looking.cancel()
    await looking.value
  }

  @Test func `sets of changes`() async throws {
    let articles = try sampleArticles()
    // Each batch below then changes this value, also the first one.
    articles["a"] = draft
    let texts = Recorder<String>()
    let isObserved = Gate()
    @Sendable func print(_ text: String) {
      texts.record(text)
      isObserved.open()
    }
    let looking = Task {
      for await set in articles.changeSets() {
        print("new: \(set.inserted.keys), changed: \(set.updated.keys), gone: \(set.removed.keys)")
      }
    }
    // The sequence begins with the task. A set before that has no observer.
    let writing = Task {
      while !Task.isCancelled {
        try articles.batch { batch in
          batch.setValue(edited, forKey: "a")
          batch.removeValue(forKey: "b")
        }
        articles["b"] = draft
        await Task.yield()
      }
    }
    await isObserved.passUncancelled()
    writing.cancel()
    try await writing.value
    #expect(texts.elements.contains { $0.contains("changed: [\"a\"]") || $0.contains("new: [\"b\"]") })
    looking.cancel()
    await looking.value
  }

  @Test @MainActor func `contents on the main actor`() async throws {
    let articles = try sampleArticles()
    final class List { var articles: [String: Article] = [:] }
    let list = List()
    articles.setValue(edited, forKey: id, tags: ["author:7"])
    let listed = articles.observeContents(.tagged("author:7"), on: MainActor.shared) { update in
      update.apply(to: &list.articles)
    }
    while list.articles[id]?.title != edited.title { await Task.yield() }
    listed.cancel()
  }

  @Test @MainActor func `a closure on the main actor`() async throws {
    let articles = try sampleArticles()
    final class Label { var title = "" }
    let label = Label()
    var title: String {
      get { label.title }
      set { label.title = newValue }
    }
    let token = articles.observe(.key(id), on: MainActor.shared) { change in
      title = change.value?.title ?? "none"
    }
    articles[id] = edited
    while title != edited.title { await Task.yield() }
    token.cancel()
  }

  @Test func `a closure with its token`() throws {
    let articles = try sampleArticles()
    let token = articles.observe(.key(id)) { change in
      if case .removed(let id, let cause) = change.event { print("\(id) went: \(cause)") }
    }
    defer { token.cancel() }

    let shown = articles.observeValue(forKey: id) { article in print(article?.title ?? "none") }
    defer { shown.cancel() }
    articles[id] = edited
    articles[id] = nil
  }

  @Test func `previous values`() throws {
    let articles = try sampleArticles()
    let token = articles.observe(.prefix("news/")) { change in
      switch change.previous {
      case .value(let article): print("was: \(article.title)")
      case .none: print("new")
      case .unknown: print("was on disk only")
      }
    }
    defer { token.cancel() }
    articles["news/1"] = edited
    articles["news/1"] = nil
  }

  @Test func `an owner of observations`() throws {
    let articles = try sampleArticles()
    let list = NewsList(articles)
    articles["news/1"] = edited
    withExtendedLifetime(list) {}
  }
}

final class NewsList: Sendable {
  private let observations = Observations()

  init(_ articles: Cache<String, Article>) {
    articles.observe(.prefix("news/")) { [weak self] change in
      self?.show(change)
    }.store(in: observations)
  }

  func show(_ change: Change<String, Article>) {}
}
