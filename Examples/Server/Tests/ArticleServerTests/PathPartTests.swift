import ArticleServer
import Testing

/// The names of articles and authors in paths.
@Suite struct PathPartTests {
  @Test(arguments: [
    ("Ann Lee", "Ann%20Lee"), ("a/b?c#d%e", "a%2Fb%3Fc%23d%25e"), ("é", "%C3%A9"), ("plain-1", "plain-1"),
  ])
  func `a text is encoded as one part of a path, and decoded again`(text: String, part: String) {
    #expect(PathPart.encode(text) == part)
    #expect(PathPart.decode(part) == text)
  }

  @Test(arguments: ["%FF", "%", "%4", "%zz"])
  func `a part that stands for no text is refused`(part: String) {
    #expect(PathPart.decode(part) == nil)
  }
}
