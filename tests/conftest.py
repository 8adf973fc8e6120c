"""Options of the test run."""


def pytest_addoption(parser):
    parser.addoption("--pictures", action="store_true", help="write the page's pictures into docs/images/studio")
