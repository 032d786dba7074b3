import Foundation
import Testing
import TestDirectories

@testable import StressKit

@Suite struct OutputFileTests {
  private let folder = TemporaryDirectory()
  private let line = Array("line".utf8)

  private func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  @Test func `a file is replaced only when the new one is complete`() throws {
    let path = try folder.file("out", "old")
    let file = try OutputFile(path)
    try file.write(line: line)
    #expect(try text(path) == "old")
    try file.finish()
    #expect(try text(path) == "line\n")
    #expect(try names == ["out"])
  }

  @Test func `an unfinished file leaves nothing behind, and the old file unchanged`() throws {
    let path = try folder.file("out", "old")
    do {
      let file = try OutputFile(path)
      try file.write(line: line)
    }
    #expect(try text(path) == "old")
    #expect(try names == ["out"])
  }

  @Test func `the target of a link is replaced, and the link stays`() throws {
    let path = try folder.file("out", "old")
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let file = try OutputFile(link)
    try file.write(line: line)
    try file.finish()
    #expect(try text(path) == "line\n")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
  }

  @Test(arguments: ["new", "./new", "chain", "folder/new", "absolute"])
  func `the target of a link is created if it does not exist, and the link stays`(destination: String) throws {
    let manager = FileManager.default
    try manager.createDirectory(atPath: folder.path + "/folder", withIntermediateDirectories: false)
    // A chain of links that begins in another folder, and a link with an absolute path.
    try manager.createSymbolicLink(atPath: folder.path + "/chain", withDestinationPath: "folder/back")
    try manager.createSymbolicLink(atPath: folder.path + "/folder/back", withDestinationPath: "../new")
    try manager.createSymbolicLink(atPath: folder.path + "/absolute", withDestinationPath: folder.path + "/new")
    let link = folder.path + "/link"
    try manager.createSymbolicLink(atPath: link, withDestinationPath: destination)
    let file = try OutputFile(link)
    try file.write(line: line)
    try file.finish()
    #expect(try text(folder.path + (destination == "folder/new" ? "/folder/new" : "/new")) == "line\n")
    #expect(try manager.destinationOfSymbolicLink(atPath: link) == destination)
  }

  @Test func `a link without a usable target is described by what it is`() throws {
    for (name, destination, complaint) in [
      ("loop", "loop", "leads back to itself"),
      ("astray", "absent/new", "it is a symbolic link to '\(folder.path)/absent/new', whose folder does not exist"),
    ] {
      let link = folder.path + "/" + name
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: destination)
      let failure = #expect(throws: CommandFailure.self) { try OutputFile(link) }
      #expect(failure?.message.contains(complaint) == true, "\(failure?.message ?? "")")
    }
  }

  private func permissions(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test(arguments: [0o600, 0o640, 0o666])
  func `a file that replaces another has its permissions from the beginning`(mode: Int) throws {
    let path = try folder.file("out", "old")
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    let file = try OutputFile(path)
    #expect(try permissions(try #require(file.partial)) == mode)
    try file.write(line: line)
    try file.finish()
    #expect(try permissions(path) == mode)
    #expect(try text(path) == "line\n")
  }

  @Test func `a new file has the permissions that the process gives to new files`() throws {
    let path = folder.path + "/out"
    try OutputFile(path).finish()
    #expect(FileManager.default.createFile(atPath: folder.path + "/other", contents: nil))
    #expect(try permissions(path) == permissions(folder.path + "/other"))
  }

  @Test func `a pipe is written to and stays a pipe`() async throws {
    let path = folder.path + "/pipe"
    try #require(unsafe mkfifo(path, 0o600) == 0)
    // Opened for reading and writing, so that no open waits for the other end.
    let reader = unsafe open(path, O_RDWR)
    defer { close(reader) }
    let file = try OutputFile(path)
    try file.write(line: line)
    try file.finish()
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe read(reader, &bytes, 16)
    #expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self) == "line\n")
    #expect(try names == ["pipe"])
  }

  @Test func `a folder, and a file in a missing folder, are refused before the first write`() throws {
    #expect(throws: CommandFailure.self) { try OutputFile(folder.path) }
    #expect(throws: CommandFailure.self) { try OutputFile(folder.path + "/absent/out") }
    #expect(try names == [])
  }

  @Test func `the unfinished files of processes that ended are removed, and no others`() throws {
    let path = folder.path + "/out"
    // No process has the largest number, and the first process always runs.
    let ended = ["out.partial-2147483647", "out.partial-2147483646"]
    let others = [
      "other.partial-2147483647", "out.partial-+2147483647", "out.partial-02147483647", "out.partial-1",
      "out.partial-2147483647.txt", "out.partial-x", "out.partial-", "out.partial-9999999999",
    ]
    for name in ended + others { _ = try folder.file(name, "") }
    try FileManager.default.createDirectory(
      atPath: folder.path + "/out.partial-2147483645", withIntermediateDirectories: false)
    let file = try OutputFile(path)
    try file.finish()
    #expect(try names == (others + ["out", "out.partial-2147483645"]).sorted())
  }

  @Test func `a hyphen is standard output`() async throws {
    let store = folder.path + "/store"
    #expect(await CommandRun(["put", store, "things", "a", "--disk-limit", "1MiB"], input: [1]).status == 0)
    let run = await CommandRun("export", store, "things", "-")
    #expect(run.text.contains(#""key":"a""#), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: "-"))
  }

  @Test func `output that cannot be written ends the command before its success is announced`() throws {
    let console = Console(
      write: { _ in }, writeError: { _ in }, readNext: { [] }, isTerminal: false, outputState: { .failed("no space") })
    let file = try OutputFile(nil)
    #expect(throws: CommandFailure.self) { try Console.$current.withValue(console) { try file.finish() } }
  }
}
