import ArticleServer
import Cistern
import Testing

@Suite(.serialized) struct ArticleServerTests {
  private let articles = (1...20).map { Article(id: "\($0)", author: "ada", title: "Title \($0)") }

  @Test func `concurrent requests share one request to the origin, and later ones are hits`() async throws {
    try await RunningServer.run(articles) { server in
      server.origin.reads.close()
      let requests = (0..<8).map { _ in Task { try await server.get("/articles/1") } }
      await server.origin.reads.arrivals(atLeast: 1)
      while try await server.metric("cistern_cache_waiter_count") < 8 { await Task.yield() }
      server.origin.reads.open()
      for request in requests { #expect(try await request.value.decode(Article.self) == articles[0]) }
      #expect(server.origin.requestCount == 1)
      #expect(try await server.get("/articles/1").cacheStatus == "cistern; hit")
      #expect(server.origin.requestCount == 1)
    }
  }

  @Test func `a stale article is returned at once, and is fetched again in the background`() async throws {
    try await RunningServer.run(articles) { server in
      _ = try await server.get("/articles/1")
      _ = server.origin.rename("1", to: "New")
      server.clock.advance(by: .seconds(61))
      server.origin.reads.close()
      let stale = try await server.get("/articles/1")
      #expect(stale.cacheStatus == "cistern; hit; detail=stale")
      #expect(try stale.decode(Article.self).title == "Title 1")
      server.origin.reads.open()
      while try await server.get("/articles/1").decode(Article.self).title != "New" { await Task.yield() }
      #expect(server.origin.requestCount == 2)
    }
  }

  @Test func `a change is visible before the origin confirms it, and removes the lists of the author`() async throws {
    try await RunningServer.run(articles) { server in
      _ = try await server.get("/articles/1")
      #expect(try await server.get("/authors/ada").decode([Article].self).count == 20)
      server.origin.changes.close()
      let change = Task { try await server.post("/articles/1", TitleChange(title: "Better")) }
      await server.origin.changes.arrivals(atLeast: 1)
      #expect(try await server.get("/articles/1").decode(Article.self).title == "Better")
      #expect(try await server.get("/authors/ada").cacheStatus == "cistern; hit")
      server.origin.changes.open()
      #expect(try await change.value.decode(Article.self).revision == 1)
      let list = try await server.get("/authors/ada")
      #expect(list.cacheStatus == "cistern; fwd=miss; stored")
      #expect(try list.decode([Article].self).contains { $0.title == "Better" })
    }
  }

  @Test func `a change removes the lists of an author whose name is encoded in a path`() async throws {
    let article = Article(id: "a/b c?", author: "Ann Lee", title: "Old")
    try await RunningServer.run([article]) { server in
      #expect(try await server.get("/authors/Ann%20Lee").decode([Article].self) == [article])
      #expect(try await server.get("/articles/a%2Fb%20c%3F").decode(Article.self) == article)
      #expect(try await server.post("/articles/a%2Fb%20c%3F", TitleChange(title: "New")).status == 200)
      let list = try await server.get("/authors/Ann%20Lee")
      #expect(list.cacheStatus == "cistern; fwd=miss; stored")
      #expect(try list.decode([Article].self).map(\.title) == ["New"])
    }
  }

  @Test func `a change that the origin refuses is withdrawn`() async throws {
    try await RunningServer.run(articles) { server in
      _ = try await server.get("/articles/1")
      server.origin.refuseChanges()
      #expect(try await server.post("/articles/1", TitleChange(title: "Worse")).status == 500)
      #expect(try await server.get("/articles/1").decode(Article.self) == articles[0])
    }
  }

  @Test func `observers receive changes as server-sent events, until the server shuts down`() async throws {
    try await RunningServer.run(articles) { server in
      _ = try await server.get("/articles/1")
      let response = try await server.stream("/articles/1/updates")
      #expect(response.headers["content-type"] == ["text/event-stream"])
      var body = response.body.makeAsyncIterator()
      var received = ""
      func receive(until text: String) async throws {
        while !received.contains(text), let part = try await body.next() { received += String(buffer: part) }
      }
      try await receive(until: ": observing\n\n")
      _ = try await server.post("/articles/1", TitleChange(title: "Better"))
      try await receive(until: "\"revision\":1")
      #expect(received.contains("data: {") && received.contains("Better"))
      await server.group.triggerGracefulShutdown()
      while let part = try await body.next() { received += String(buffer: part) }
    }
  }

  @Test func `metrics have the requests, the sizes and the latencies`() async throws {
    try await RunningServer.run(articles) { server in
      for _ in 0..<3 { _ = try await server.get("/articles/1") }
      #expect(try await server.metric("cistern_cache_flights_total{cistern_cache_name=\"articles\"}") == 1)
      #expect(
        try await server.metric("cistern_cache_requests_total", "result=\"hit\"", "tier=\"memory\"", "articles") == 2)
      #expect(try await server.metric("cistern_cache_entry_count", "tier=\"memory\"", "articles") == 1)
      #expect(try await server.metric("cistern_cache_fetch_duration_seconds_count", "success", "articles") == 1)
    }
  }

  @Test func `a graceful shutdown under load answers every request that was accepted, and keeps the values`()
    async throws
  {
    try await RunningServer.run(articles) { server in
      server.origin.reads.close()
      // The server has eight connections to its origin.
      let articles = articles.prefix(8)
      // These requests wait for the origin when the shutdown begins.
      let waiting = articles.map { article in Task { try await server.get("/articles/\(article.id)") } }
      await server.origin.reads.arrivals(atLeast: articles.count)
      // These send one request after the other, until the server accepts no more.
      let clients = (0..<4).map { _ in
        Task {
          var answers: [UInt] = []
          while let answer = try? await server.get("/metrics") { answers.append(answer.status) }
          return answers
        }
      }
      await server.group.triggerGracefulShutdown()
      server.origin.reads.open()
      for (article, request) in zip(articles, waiting) {
        let answer = try await request.value
        #expect(answer.status == 200)
        #expect(try answer.decode(Article.self) == article)
      }
      for client in clients {
        let statuses = await client.value
        #expect(statuses.allSatisfy { $0 == 200 })
      }
    } afterwards: { server in
      // The last writes were committed before the services ended.
      var configuration = Store.Configuration()
      configuration.clock = server.clock
      let store = try Store(
        directory: server.directory, memoryLimit: .mebibytes(64), diskLimit: .mebibytes(256),
        configuration: configuration)
      #expect(store.reports.isEmpty)
      let cache = try store.cache(
        "articles", of: Representation<Article>.self, keyedBy: String.self,
        expiry: .after(.seconds(60), graceStale: .seconds(3600)))
      for article in articles.prefix(8) { #expect(cache[article.id]?.content == article) }
      try await store.close()
    }
  }
}

extension RunningServer {
  /// Returns the sum of the metric's lines that begin with `name` and contain all `parts`.
  func metric(_ name: String, _ parts: String...) async throws -> Double {
    try await get("/metrics").text.split(separator: "\n")
      .filter { line in line.hasPrefix(name) && parts.allSatisfy { line.contains($0) } }
      .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
      .reduce(0, +)
  }
}
