import Foundation
import Testing
import TestDirectories

@testable import InputFormats

@testable import StressKit

/// `cistern remove` by prefix and by tag.
@Suite struct RemoveTests {
  private let folder: TemporaryDirectory
  private var store: String { folder.path + "/store" }

  init() async throws {
    folder = TemporaryDirectory()
    let lines = """
      {"key":"news/1","text":"v","tags":["red"]}
      {"key":"news/2","text":"v","tags":["red","blue"]}
      {"key":"sport/1","text":"v","tags":["blue"]}
      {"key":"sport/2","text":"v"}
      """
    let run = await CommandRun(["import", store, "things", "--disk-limit", "1MiB"], input: Array(lines.utf8))
    try #require(run.status == 0, "\(run.errors)")
  }

  private func keys() async -> [String] {
    await CommandRun("list", store, "things", "--keys-only").text.split(separator: "\n").map(String.init).sorted()
  }

  private func remove(_ arguments: String...) async -> CommandRun {
    await CommandRun(["remove", store, "things"] + arguments)
  }

  @Test func `a prefix removes every key that begins with it, and no other`() async {
    #expect(await remove("--prefix", "news/").status == 0)
    #expect(await keys() == ["sport/1", "sport/2"])
    #expect(await CommandRun("get", store, "things", "news/1").status == 1)
    #expect(await CommandRun("verify", store).status == 0)
  }

  @Test(arguments: [["--prefix", "news/"], ["--tag", "blue"], ["--all"]])
  func `removed records do not count in later commands`(arguments: [String]) async throws {
    let store = folder.path + "/large"
    // More records than the closing store would purge in passing.
    let lines = (1...5_000).map { #"{"key":"news/\#($0)","text":"v","tags":["blue"]}"# } + [#"{"key":"a","text":"v"}"#]
    let filling = await CommandRun(
      ["import", store, "things", "--disk-limit", "16MiB"], input: Array(lines.joined(separator: "\n").utf8))
    #expect(filling.status == 0, "\(filling.errors)")
    #expect(await CommandRun(["remove", store, "things"] + arguments).status == 0)
    let left = arguments == ["--all"] ? 0 : 1
    let stat = await CommandRun("stat", store, "--json")
    let report = try JSONDecoder().decode(StatCommand.Report.self, from: Data(stat.output))
    #expect(report.entries == left)
    let text = left == 1 ? "1 entry" : "\(left) entries"
    #expect(await CommandRun("verify", store).text.contains(": \(text) in"))
    #expect(await CommandRun("backup", store, folder.path + "/copy").text.contains(": \(text) in"))
  }

  @Test func `a prefix in hexadecimal removes like its bytes`() async {
    #expect(await remove("--prefix", KeyText.hexadecimal(Array("sport/".utf8)), "--hex").status == 0)
    #expect(await keys() == ["news/1", "news/2"])
  }

  @Test func `a tag removes every key whose value has it, and no other`() async {
    #expect(await remove("--tag", "blue").status == 0)
    #expect(await keys() == ["news/1", "sport/2"])
  }

  @Test func `a key can be stored again after the removal of its prefix and its tag`() async {
    #expect(await remove("--prefix", "news/").status == 0)
    #expect(await remove("--tag", "blue").status == 0)
    #expect(await CommandRun(["put", store, "things", "news/1"], input: Array("new".utf8)).status == 0)
    #expect(await CommandRun("get", store, "things", "news/1").text == "new")
    #expect(await keys() == ["news/1", "sport/2"])
  }

  @Test(arguments: [["--prefix", "news/9"], ["--tag", "green"]])
  func `a removal without matching keys gives exit code 1 and a message`(arguments: [String]) async {
    let run = await CommandRun(["remove", store, "things"] + arguments)
    #expect(run.status == 1)
    #expect(run.errors.contains(arguments[1]), "\(run.errors)")
    #expect(await keys().count == 4)
  }

  @Test(arguments: [
    [], ["--prefix", ""], ["--tag", ""], ["a", "--all"], ["a", "--prefix", "b"], ["--prefix", "a", "--tag", "b"],
    ["--tag", "a", "--hex"], ["--all", "--hex"], ["--prefix", "6", "--hex"], ["-5"],
  ])
  func `a removal without a target, with two targets or an empty prefix is bad input and removes nothing`(
    arguments: [String]
  ) async {
    let run = await CommandRun(["remove", store, "things"] + arguments)
    #expect(run.status == 2)
    #expect(run.errors.contains("Usage: cistern remove"), "\(run.errors)")
    #expect(await keys().count == 4)
  }

  @Test func `a key that begins with a hyphen follows two hyphens`() async {
    #expect(await CommandRun(["put", store, "things", "--", "-5"], input: [1]).status == 0)
    #expect(await CommandRun("get", store, "things", "--", "-5").output == [1])
    #expect(await remove("--", "-5").status == 0)
    #expect(await keys().count == 4)
  }
}
