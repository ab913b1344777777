-- The tables and views of the Northwind database for SQLite, with few rows: after "Northwind and pubs sample databases",
-- Copyright (c) Microsoft Corporation, MIT, see northwind.LICENSE.md.
CREATE TABLE Categories (
	CategoryID INTEGER PRIMARY KEY AUTOINCREMENT, CategoryName NVARCHAR(15) NOT NULL, Description NTEXT, Picture IMAGE);
CREATE TABLE CustomerDemographics (CustomerTypeID NCHAR(10) NOT NULL PRIMARY KEY, CustomerDesc NTEXT);
CREATE TABLE Customers (
	CustomerID NCHAR(5) NOT NULL PRIMARY KEY, CompanyName NVARCHAR(40) NOT NULL, ContactName NVARCHAR(30), ContactTitle NVARCHAR(30),
	Address NVARCHAR(60), City NVARCHAR(15), Region NVARCHAR(15), PostalCode NVARCHAR(10), Country NVARCHAR(15), Phone NVARCHAR(24), Fax NVARCHAR(24));
CREATE TABLE CustomerCustomerDemo (
	CustomerID NCHAR(5) NOT NULL REFERENCES Customers (CustomerID),
	CustomerTypeID NCHAR(10) NOT NULL REFERENCES CustomerDemographics (CustomerTypeID), PRIMARY KEY (CustomerID, CustomerTypeID));
CREATE TABLE Employees (
	EmployeeID INTEGER PRIMARY KEY AUTOINCREMENT, LastName NVARCHAR(20) NOT NULL, FirstName NVARCHAR(10) NOT NULL, Title NVARCHAR(30),
	TitleOfCourtesy NVARCHAR(25), BirthDate DATETIME, HireDate DATETIME, Address NVARCHAR(60), City NVARCHAR(15), Region NVARCHAR(15),
	PostalCode NVARCHAR(10), Country NVARCHAR(15), HomePhone NVARCHAR(24), Extension NVARCHAR(4), Photo IMAGE, Notes NTEXT,
	ReportsTo INTEGER REFERENCES Employees (EmployeeID), PhotoPath NVARCHAR(255));
CREATE TABLE Region (RegionID INTEGER NOT NULL PRIMARY KEY, RegionDescription NCHAR(50) NOT NULL);
CREATE TABLE Territories (
	TerritoryID NVARCHAR(20) NOT NULL PRIMARY KEY, TerritoryDescription NCHAR(50) NOT NULL, RegionID INTEGER NOT NULL REFERENCES Region (RegionID));
CREATE TABLE EmployeeTerritories (
	EmployeeID INTEGER NOT NULL REFERENCES Employees (EmployeeID), TerritoryID NVARCHAR(20) NOT NULL REFERENCES Territories (TerritoryID),
	PRIMARY KEY (EmployeeID, TerritoryID));
CREATE TABLE Shippers (ShipperID INTEGER PRIMARY KEY AUTOINCREMENT, CompanyName NVARCHAR(40) NOT NULL, Phone NVARCHAR(24));
CREATE TABLE Suppliers (
	SupplierID INTEGER PRIMARY KEY AUTOINCREMENT, CompanyName NVARCHAR(40) NOT NULL, ContactName NVARCHAR(30), ContactTitle NVARCHAR(30),
	Address NVARCHAR(60), City NVARCHAR(15), Region NVARCHAR(15), PostalCode NVARCHAR(10), Country NVARCHAR(15), Phone NVARCHAR(24),
	Fax NVARCHAR(24), HomePage NTEXT);
CREATE TABLE Products (
	ProductID INTEGER PRIMARY KEY AUTOINCREMENT, ProductName NVARCHAR(40) NOT NULL, SupplierID INTEGER REFERENCES Suppliers (SupplierID),
	CategoryID INTEGER REFERENCES Categories (CategoryID), QuantityPerUnit NVARCHAR(20), UnitPrice MONEY DEFAULT 0,
	UnitsInStock SMALLINT DEFAULT 0, UnitsOnOrder SMALLINT DEFAULT 0, ReorderLevel SMALLINT DEFAULT 0, Discontinued BIT NOT NULL DEFAULT 0);
CREATE TABLE Orders (
	OrderID INTEGER PRIMARY KEY AUTOINCREMENT, CustomerID NCHAR(5) REFERENCES Customers (CustomerID),
	EmployeeID INTEGER REFERENCES Employees (EmployeeID), OrderDate DATETIME, RequiredDate DATETIME, ShippedDate DATETIME,
	ShipVia INTEGER REFERENCES Shippers (ShipperID), Freight MONEY DEFAULT 0, ShipName NVARCHAR(40), ShipAddress NVARCHAR(60),
	ShipCity NVARCHAR(15), ShipRegion NVARCHAR(15), ShipPostalCode NVARCHAR(10), ShipCountry NVARCHAR(15));
CREATE TABLE "Order Details" (
	OrderID INTEGER NOT NULL REFERENCES Orders (OrderID), ProductID INTEGER NOT NULL REFERENCES Products (ProductID),
	UnitPrice MONEY NOT NULL DEFAULT 0, Quantity SMALLINT NOT NULL DEFAULT 1, Discount REAL NOT NULL DEFAULT 0, PRIMARY KEY (OrderID, ProductID));

CREATE VIEW "Alphabetical list of products" AS
	SELECT Products.*, Categories.CategoryName FROM Categories JOIN Products ON Categories.CategoryID = Products.CategoryID WHERE Products.Discontinued = 0;
CREATE VIEW "Current Product List" AS SELECT ProductID, ProductName FROM Products WHERE Discontinued = 0;
CREATE VIEW "Customer and Suppliers by City" AS
	SELECT City, CompanyName, ContactName, 'Customers' AS Relationship FROM Customers
	UNION SELECT City, CompanyName, ContactName, 'Suppliers' FROM Suppliers;
CREATE VIEW "Order Details Extended" AS
	SELECT d.OrderID, d.ProductID, Products.ProductName, d.UnitPrice, d.Quantity, d.Discount, d.UnitPrice * d.Quantity * (1 - d.Discount) AS ExtendedPrice
	FROM Products JOIN "Order Details" d ON Products.ProductID = d.ProductID;
CREATE VIEW "Order Subtotals" AS
	SELECT OrderID, SUM(UnitPrice * Quantity * (1 - Discount)) AS Subtotal FROM "Order Details" GROUP BY OrderID;
CREATE VIEW "Orders Qry" AS
	SELECT Orders.*, Customers.CompanyName, Customers.City FROM Customers JOIN Orders ON Customers.CustomerID = Orders.CustomerID;
CREATE VIEW "Product Sales for 1997" AS
	SELECT c.CategoryName, p.ProductName, SUM(d.UnitPrice * d.Quantity * (1 - d.Discount)) AS ProductSales
	FROM Categories c JOIN Products p ON c.CategoryID = p.CategoryID JOIN "Order Details" d ON p.ProductID = d.ProductID
	JOIN Orders o ON o.OrderID = d.OrderID WHERE o.ShippedDate BETWEEN '1997-01-01' AND '1997-12-31 23:59:59' GROUP BY c.CategoryName, p.ProductName;
CREATE VIEW "Category Sales for 1997" AS
	SELECT CategoryName, SUM(ProductSales) AS CategorySales FROM "Product Sales for 1997" GROUP BY CategoryName;
CREATE VIEW "Products Above Average Price" AS
	SELECT ProductName, UnitPrice FROM Products WHERE UnitPrice > (SELECT AVG(UnitPrice) FROM Products);
CREATE VIEW "Products by Category" AS
	SELECT c.CategoryName, p.ProductName, p.QuantityPerUnit, p.UnitsInStock, p.Discontinued
	FROM Categories c JOIN Products p ON c.CategoryID = p.CategoryID WHERE p.Discontinued <> 1;
CREATE VIEW "Quarterly Orders" AS
	SELECT DISTINCT Customers.CustomerID, Customers.CompanyName, Customers.City, Customers.Country
	FROM Customers JOIN Orders ON Customers.CustomerID = Orders.CustomerID WHERE Orders.OrderDate BETWEEN '1997-01-01' AND '1997-12-31';
CREATE VIEW "Sales Totals by Amount" AS
	SELECT s.Subtotal AS SaleAmount, Orders.OrderID, Customers.CompanyName, Orders.ShippedDate
	FROM Customers JOIN Orders ON Customers.CustomerID = Orders.CustomerID JOIN "Order Subtotals" s ON Orders.OrderID = s.OrderID WHERE s.Subtotal > 20;
CREATE VIEW "Summary of Sales by Quarter" AS
	SELECT Orders.ShippedDate, Orders.OrderID, s.Subtotal FROM Orders JOIN "Order Subtotals" s ON Orders.OrderID = s.OrderID WHERE Orders.ShippedDate IS NOT NULL;
CREATE VIEW Invoices AS
	SELECT o.ShipName, o.ShipCity, o.ShipCountry, o.CustomerID, c.CompanyName AS CustomerName, e.FirstName || ' ' || e.LastName AS Salesperson, o.OrderID,
		o.OrderDate, s.CompanyName AS ShipperName, d.ProductID, p.ProductName, d.UnitPrice, d.Quantity, d.Discount, o.Freight
	FROM Shippers s JOIN Orders o ON s.ShipperID = o.ShipVia JOIN Customers c ON c.CustomerID = o.CustomerID JOIN Employees e ON e.EmployeeID = o.EmployeeID
	JOIN "Order Details" d ON o.OrderID = d.OrderID JOIN Products p ON p.ProductID = d.ProductID;

INSERT INTO Categories (CategoryID, CategoryName, Description) VALUES (1, 'Beverages', 'Soft drinks'), (2, 'Condiments', 'Sweet and savory sauces');
INSERT INTO CustomerDemographics VALUES ('big', 'Big ones');
INSERT INTO Customers (CustomerID, CompanyName, ContactName, City, Country) VALUES
	('ALFKI', 'Alfreds Futterkiste', 'Maria Anders', 'Berlin', 'Germany'), ('ANATR', 'Ana Trujillo', 'Ana Trujillo', 'México D.F.', 'Mexico'),
	('AROUT', 'Around the Horn', 'Thomas Hardy', 'London', 'UK');
INSERT INTO CustomerCustomerDemo VALUES ('ALFKI', 'big');
INSERT INTO Employees (EmployeeID, LastName, FirstName, Title, BirthDate, ReportsTo) VALUES
	(2, 'Fuller', 'Andrew', 'Vice President', '1952-02-19 00:00:00', NULL), (1, 'Davolio', 'Nancy', 'Sales Representative', '1948-12-08 00:00:00', 2);
INSERT INTO Region VALUES (1, 'Eastern'), (2, 'Western');
INSERT INTO Territories VALUES ('01581', 'Westboro', 1), ('98004', 'Bellevue', 2);
INSERT INTO EmployeeTerritories VALUES (1, '01581'), (2, '98004'), (2, '01581');
INSERT INTO Shippers VALUES (1, 'Speedy Express', '(503) 555-9831'), (2, 'United Package', '(503) 555-3199');
INSERT INTO Suppliers (SupplierID, CompanyName, ContactName, City) VALUES (1, 'Exotic Liquids', 'Charlotte Cooper', 'London'), (2, 'New Orleans', 'Shelley Burke', 'New Orleans');
INSERT INTO Products (ProductID, ProductName, SupplierID, CategoryID, QuantityPerUnit, UnitPrice, UnitsInStock, Discontinued) VALUES
	(1, 'Chai', 1, 1, '10 boxes', 18, 39, 0), (2, 'Chang', 1, 1, '24 bottles', 19, 17, 0), (3, 'Aniseed Syrup', 1, 2, '12 bottles', 10, 13, 0),
	(4, 'Gumbo Mix', 2, 2, '36 boxes', 21.35, 0, 1), (5, 'Cajun Seasoning', 2, 2, '48 jars', 22, 53, 0);
INSERT INTO Orders (OrderID, CustomerID, EmployeeID, OrderDate, ShippedDate, ShipVia, Freight, ShipName) VALUES
	(10248, 'ALFKI', 1, '1997-07-04 00:00:00', '1997-07-16 00:00:00', 1, 32.38, 'Alfreds'), (10249, 'ANATR', 2, '1997-07-05 00:00:00', '1997-07-16 00:00:00', 2, 11.61, 'Ana'),
	(10250, 'ALFKI', 2, '1997-07-08 00:00:00', '1997-07-12 00:00:00', 1, 65.83, 'Alfreds'), (10251, 'AROUT', 1, '1998-07-08 00:00:00', NULL, 1, 41.34, 'Around');
INSERT INTO "Order Details" VALUES
	(10248, 1, 18, 12, 0), (10248, 2, 19, 10, 0), (10249, 3, 10, 9, 0), (10249, 5, 22, 40, 0), (10250, 1, 18, 10, 0.15), (10250, 5, 22, 35, 0.15),
	(10251, 2, 19, 6, 0.05), (10251, 4, 21.35, 15, 0.05);
