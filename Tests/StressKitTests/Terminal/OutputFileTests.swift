import Foundation
import Testing
import TestDirectories

@testable import StressKit

@Suite struct OutputFileTests {
  private let folder: TemporaryDirectory
  private let line = Array("line".utf8)

  init() throws {
    folder = TemporaryDirectory()
  }

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
}
