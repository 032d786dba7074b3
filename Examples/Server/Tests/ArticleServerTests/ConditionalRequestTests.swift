import ArticleServer
import Testing

/// Entity tags between the client, the server and its origin.
@Suite(.serialized) struct ConditionalRequestTests {
  private let articles = (1...3).map { Article(id: "\($0)", author: "ada", title: "Title \($0)") }

  @Test func `a request with the current entity tag gets 304 without a body, and any other gets the article`()
    async throws
  {
    try await RunningServer.run(articles) { server in
      let first = try await server.get("/articles/1")
      #expect(first.status == 200 && first.entityTag == "W/\"1-0\"")
      for tags in ["W/\"1-0\"", "\"1-0\"", "\"other\", \"1-0\"", "*"] {
        let answer = try await server.get("/articles/1", ifNoneMatch: tags)
        #expect(answer.status == 304 && answer.body.isEmpty && answer.entityTag == first.entityTag, "\(tags)")
      }
      for tags in ["\"1-1\"", "1-0", ""] {
        let answer = try await server.get("/articles/1", ifNoneMatch: tags)
        #expect(try answer.status == 200 && answer.decode(Article.self) == articles[0], "\(tags)")
      }
      #expect(server.origin.requestCount == 1)
    }
  }

  @Test func `a stale article that the origin has not changed becomes fresh without being transferred`() async throws {
    try await RunningServer.run(articles) { server in
      let first = try await server.get("/articles/1")
      server.clock.advance(by: .seconds(61))
      while try await server.get("/articles/1").cacheStatus != "cistern; hit" { await Task.yield() }
      #expect(server.origin.requestCount == 2 && server.origin.unmodifiedCount == 1)
      let kept = try await server.get("/articles/1")
      #expect(try kept.entityTag == first.entityTag && kept.decode(Article.self) == articles[0])
      #expect(server.origin.requestCount == 2)
    }
  }

  @Test func `a stale article that the origin has changed gets the new entity tag`() async throws {
    try await RunningServer.run(articles) { server in
      _ = try await server.get("/articles/1")
      _ = server.origin.rename("1", to: "New")
      server.clock.advance(by: .seconds(61))
      while try await server.get("/articles/1").cacheStatus != "cistern; hit" { await Task.yield() }
      let answer = try await server.get("/articles/1", ifNoneMatch: "\"1-0\"")
      #expect(try answer.entityTag == "W/\"1-1\"" && answer.decode(Article.self).title == "New")
      #expect(server.origin.unmodifiedCount == 0)
    }
  }

  @Test func `a list that is kept stays tagged with its author`() async throws {
    try await RunningServer.run(articles) { server in
      _ = try await server.get("/authors/ada")
      server.clock.advance(by: .seconds(61))
      while try await server.get("/authors/ada").cacheStatus != "cistern; hit" { await Task.yield() }
      #expect(server.origin.unmodifiedCount == 1)
      _ = try await server.get("/articles/1")
      _ = try await server.post("/articles/1", TitleChange(title: "Better"))
      let list = try await server.get("/authors/ada")
      #expect(list.cacheStatus == "cistern; fwd=miss; stored")
      #expect(try list.decode([Article].self)[0].title == "Better")
    }
  }

  @Test func `an unconfirmed change has no entity tag, and a confirmed one has that of the origin`() async throws {
    try await RunningServer.run(articles) { server in
      _ = try await server.get("/articles/1")
      server.origin.changes.close()
      let change = Task { try await server.post("/articles/1", TitleChange(title: "Better")) }
      await server.origin.changes.arrivals(atLeast: 1)
      let unconfirmed = try await server.get("/articles/1", ifNoneMatch: "\"1-0\"")
      #expect(try unconfirmed.entityTag == nil && unconfirmed.decode(Article.self).title == "Better")
      server.origin.changes.open()
      _ = try await change.value
      #expect(try await server.get("/articles/1").entityTag == "W/\"1-1\"")
      #expect(try await server.get("/articles/1", ifNoneMatch: "W/\"1-1\"").status == 304)
    }
  }

  @Test func `an article that the origin has deleted is not found, even if it is stale in the cache`() async throws {
    try await RunningServer.run(articles) { server in
      #expect(try await server.get("/articles/9").status == 404)
      _ = try await server.get("/articles/1")
      server.origin.remove("1")
      server.clock.advance(by: .seconds(61))
      while try await server.get("/articles/1").status == 200 { await Task.yield() }
      #expect(try await server.get("/articles/1").status == 404)
    }
  }

  @Test func `an entity tag has quotes, and text without them is none`() {
    for text in ["\"a\"", "W/\"a\"", "\"\"", "\"a,b\""] { #expect(EntityTag(text)?.text == text) }
    for text in ["", "\"", "a", "W/", "W/a", "w/\"a\"", "\"a\"b\"", "\"a b\""] {
      #expect(EntityTag(text) == nil, "\(text)")
    }
    let tag = EntityTag("\"a,b\"")
    #expect(tag?.matches(ifNoneMatch: "\"a\", W/\"a,b\"") == true)
    #expect(tag?.matches(ifNoneMatch: "\"a\", \"b\"") == false)
    #expect(tag?.matches(ifNoneMatch: "\"a,b") == false)
  }
}
