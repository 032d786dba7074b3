import Cistern
import CisternTesting
import Testing

extension Client {
  func rename(_ id: String, to title: String) async throws -> Article? { Article(title: title, text: "as saved") }
}

/// The examples of "Editing".
@Suite struct EditingSnippets: Examples {
  private func sampleCounts() throws -> Cache<String, Int> {
    try sampleStore().cache("counts", of: Int.self, keyedBy: String.self)
  }

  @Test func `an update`() throws {
    let counts = try sampleCounts()
    counts.updateValue(forKey: id) { count in
      count = (count ?? 0) + 1
    }
    #expect(counts[id] == 1)
  }

  @Test func `an asynchronous update`() async throws {
    let articles = try sampleArticles()
    try await articles.updateValue(forKey: id) { article in
      article = try await client.article(id)
    }
    #expect(articles[id]?.title == "Title of 1")
  }

  @Test func `an update in the background`() async throws {
    let counts = try sampleCounts()
    let counting = counts.updateValueInBackground(forKey: id) { count in
      count = (count ?? 0) + 1
    }
    let count = try await counting.value
    #expect(count == 1 && counts[id] == 1)
  }

  @Test func `an optimistic edit`() async throws {
    let articles = try sampleArticles()
    articles[id] = edited
    try await articles.editValue(forKey: id) { article in
      var article = article
      article?.title = "A better title"
      return article
    } confirmedBy: {
      try await client.rename(id, to: "A better title")
    }
    #expect(articles[id] == Article(title: "A better title", text: "as saved"))
  }

  @Test func `a batch`() throws {
    let articles = try sampleArticles()
    articles["draft"] = draft
    try articles.batch { batch in
      batch.setValue(edited, forKey: id)
      batch.removeValue(forKey: "draft")
    }
    #expect(articles[id] == edited && articles["draft"] == nil)
  }

  @Test func `a batch over several caches`() throws {
    let store = try sampleStore()
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
    let previews = try store.cache("previews", of: Article.self, keyedBy: String.self)
    previews[id] = draft
    try store.batch { batch in
      batch.setValue(edited, forKey: id, in: articles)
      batch.removeValue(forKey: id, in: previews)
    }
    #expect(articles[id] == edited && previews[id] == nil)
  }

  @Test func `a draft`() throws {
    let articles = try sampleArticles()
    articles[id] = edited
    let draft = articles.draft()
    draft[id]?.title = "A better title"
    draft["draft"] = nil
    try draft.save()
    #expect(articles[id]?.title == "A better title")
  }

  @Test func `a draft with a conflict`() throws {
    let articles = try sampleArticles()
    articles[id] = edited
    let draft = articles.draft()
    draft[id]?.title = "A better title"
    articles[id]?.text = "A better text"
    try draft.save(
      onConflict: .merge { conflict in
        guard let theirs = conflict.theirs, var mine = conflict.mine else { return conflict.mine }
        if mine.text == conflict.original?.text { mine.text = theirs.text }
        return mine
      })
    #expect(articles[id] == Article(title: "A better title", text: "A better text"))
  }

  @Test func `a draft over several caches`() throws {
    let store = try sampleStore()
    let articles = try store.cache("articles", of: Article.self, keyedBy: String.self)
    let previews = try store.cache("previews", of: Article.self, keyedBy: String.self)
    articles[id] = edited
    previews[id] = draft
    let changes = store.draft()
    changes[id, in: articles]?.title = "A better title"
    changes[id, in: previews] = nil
    try changes.save(onConflict: .throw.resolving(previews, by: .mine))
    #expect(articles[id]?.title == "A better title" && previews[id] == nil)
  }

  @Test func `an observer sees the context of the writer`() async throws {
    let articles = try sampleArticles()
    let elsewhere = Recorder<String>()
    let isObserved = Gate()
    @Sendable func print(_ text: String) {
      elsewhere.record(text)
      isObserved.open()
    }
    let me = WriterContext()
    let token = articles.observe { change in
      if change.context != me { print("changed elsewhere: \(change.event)") }
    }
    articles.setValue(edited, forKey: id, context: me)
    articles.removeValue(forKey: id)
    await isObserved.passUncancelled()
    // Changes of one key arrive in the order of the writes.
    #expect(elsewhere.count == 1 && elsewhere.elements[0].contains("removed"))
    token.cancel()
  }
}
