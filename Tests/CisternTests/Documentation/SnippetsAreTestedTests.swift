import Foundation
import Testing

/// Checks that every example in the README and the articles is a part of a test, or of the example server, which has
/// its own tests.
@Suite struct SnippetsAreTestedTests {
  private struct Snippet: CustomStringConvertible {
    let place: String
    let lines: [String]

    var description: String { "\(place):\n" + lines.joined(separator: "\n") }
  }

  @Test
  func
    `every Swift block of the README and the articles is in a test or in the example server, but for its indentation`()
    throws
  {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let folders = [
      "Tests/CisternTests/Documentation", "Tests/CisternServiceTests/Documentation",
      "Examples/Server/Sources/ArticleServer",
    ]
    let sources = try folders.flatMap { try files(in: root.appendingPathComponent($0), extension: "swift") }
      .map { try lines(of: $0) }
    var pages = try files(
      in: root.appendingPathComponent("Sources/Cistern/Documentation.docc"), extension: "md")
    let readme = root.appendingPathComponent("README.md")
    if FileManager.default.fileExists(atPath: readme.path) { pages.append(readme) }
    let snippets = try pages.flatMap { try self.snippets(of: $0) }
    #expect(snippets.count > 20)
    for snippet in snippets where !sources.contains(where: { contains($0, snippet.lines) }) {
      Issue.record("not in any file of \(folders): \(snippet)")
    }
  }

  private func files(in folder: URL, extension: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == `extension` }
  }

  /// Returns the lines of a file without indentation.
  private func lines(of file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private func snippets(of page: URL) throws -> [Snippet] {
    var snippets: [Snippet] = []
    var current: [String]?
    for (index, line) in try lines(of: page).enumerated() {
      if let lines = current {
        if line == "```" {
          // A function of a test cannot import.
          let body = lines.first?.hasPrefix("import ") == true ? Array(lines.dropFirst(2)) : lines
          snippets.append(Snippet(place: "\(page.lastPathComponent), before line \(index + 1)", lines: body))
          current = nil
        } else {
          current = lines + [line]
        }
      } else if line == "```swift" {
        current = []
      }
    }
    return snippets
  }

  private func contains(_ lines: [String], _ part: [String]) -> Bool {
    guard let first = part.first, part.count <= lines.count else { return false }
    return (0...(lines.count - part.count)).contains { start in
      lines[start] == first && Array(lines[start..<(start + part.count)]) == part
    }
  }
}
