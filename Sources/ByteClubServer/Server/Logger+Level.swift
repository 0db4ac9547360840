import Logging

extension Logger {
    /// A logger of the messages that are also at a level or above it.
    func atLeast(_ level: Level) -> Logger {
        var logger = self
        logger.logLevel = max(logLevel, level)
        return logger
    }
}
