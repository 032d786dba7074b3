import ArticleServer
import Testing

/// The command line of the server.
@Suite struct ServerSettingsTests {
  @Test func `the directory and the port are optional`() throws {
    let origin = "http://127.0.0.1:8081"
    let first = try #require(ServerSettings(arguments: [origin]))
    #expect(first.origin == origin && first.directory == "articles" && first.port == 8080)
    let second = try #require(ServerSettings(arguments: [origin, "store", "0"]))
    #expect(second.directory == "store" && second.port == 0)
  }

  @Test(arguments: [
    [], ["o", "d", "http"], ["o", "d", "65536"], ["o", "d", "-1"], ["o", "d", ""], ["o", "d", "1", "2"],
  ])
  func `a port that is none, and a wrong number of arguments, are refused`(arguments: [String]) {
    #expect(ServerSettings(arguments: arguments) == nil)
  }
}
