import Foundation
import LMDB
import Testing

@Suite struct ReaderPoolTests {
  @Test func `sequential reads use one reader slot`() throws {
    let fixture = try Fixture()
    let table = try fixture.environment.openDatabase(named: "table")
    for _ in 0..<100_000 { try fixture.environment.withRead { _ in } }
    _ = try fixture.read([1], in: table)
    #expect(try fixture.environment.information().readerCount == 1)
  }

  @Test func `readers of several threads use a few slots`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    let table = try environment.openDatabase(named: "table")
    let key: [UInt8] = [1]
    let value = [UInt8](0...200)
    try fixture.write(value, key, in: table)
    let log = Log()
    let threads = (0..<8).map { _ in
      JoinableThread {
        for _ in 0..<5000 {
          do {
            let read = try environment.withRead { (transaction) throws(LMDBError) in
              [UInt8](copying: try transaction.value(forKey: key.rawSpan, in: table))
            }
            if read != value { log.append("read \(read ?? [])") }
          } catch { log.append("\(error)") }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(log.all == [])
    #expect(try environment.information().readerCount <= 64)
  }

  @Test func `threads that read one after another share a few slots, although each has its own place`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    let log = Log()
    // Each thread waits for the next one, because the system gives the place of an ended thread to a new one.
    @Sendable func read(_ threadCount: Int) {
      JoinableThread {
        do throws(LMDBError) { try environment.withRead { _ in } } catch { log.append("\(error)") }
        if threadCount > 1 { read(threadCount - 1) }
      }.join()
    }
    read(200)
    #expect(log.all == [])
    #expect(try environment.information().readerCount <= max(16, ProcessInfo.processInfo.processorCount))
  }

  @Test func `nested reads beyond the pool work and return their slots`() throws {
    let fixture = try Fixture()
    for _ in 0..<3 {
      try nest(200, in: fixture.environment)
      #expect(try fixture.environment.information().readerCount <= 200)
    }
  }

  @Test func `more readers than slots are a temporary error`() throws {
    let fixture = try Fixture()
    #expect(code { () throws(LMDBError) in try nest(513, in: fixture.environment) } == .readersFull)
    try nest(512, in: fixture.environment)
  }

  @Test func `an open read is listed with its transaction, and an idle slot without`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    try fixture.write([1], [1], in: try environment.openDatabase(named: "table"))
    #expect(try environment.readers() == [])
    try environment.withRead { (transaction) throws(LMDBError) in
      let slots = try environment.readers()
      let number = transaction.number
      #expect(slots.map(\.transaction) == [number])
    }
    #expect(try environment.readers().map(\.transaction) == [nil])
  }

  @Test func `a read without a closure ends with its scope`() throws {
    let fixture = try Fixture()
    let environment = fixture.environment
    func scoped() throws(LMDBError) -> UInt {
      let transaction = try environment.beginRead()
      return transaction.number
    }
    for _ in 0..<1000 { _ = try scoped() }
    #expect(try environment.information().readerCount == 1)
  }

  private func nest(_ depth: Int, in environment: Environment) throws(LMDBError) {
    if depth == 0 { return }
    try environment.withRead { (_) throws(LMDBError) in try nest(depth - 1, in: environment) }
  }
}
